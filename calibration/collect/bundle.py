"""The collector as one file of plain text, for a GPU machine that has torch and nothing else.

`python -m calibration.collect.bundle > collect.py`. The modules are put one after the other, in
the order in which they need each other; imports between them fall away, other imports go first.
It runs on Python 3.9 and later, and on torch 2.4 and later (grouped attention: 2.5).
"""

import ast
import sys
from pathlib import Path
from typing import Final

MODULES: Final = ("device", "cases", "provenance", "links", "watch", "collect")
HERE: Final = Path(__file__).resolve().parent
_LEAD: Final = '''"""Time the kernels of a language model on your own GPU; needs torch only.

    python collect.py --out timings.csv [--model config.json] [--device cuda|cpu] [--minutes 10]

Then, where paretoken is installed: `paretoken calibrate import csv timings.csv`. One file made of
paretoken's calibration/collect, Apache-2.0.
"""
'''


def bundle() -> str:
    """Return the text of the one file."""
    imports: set[str] = set()
    bodies = []
    for name in MODULES:
        text = (HERE / f"{name}.py").read_text(encoding="utf-8")
        tree, lines = ast.parse(text), text.splitlines()
        top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        taken = {0}
        for node in top:
            taken.update(range(node.lineno - 1, node.end_lineno or node.lineno))
            if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("calib")):
                imports.add("\n".join(lines[node.lineno - 1 : node.end_lineno]))
        first = tree.body[0]
        taken.update(range(first.end_lineno or 1))  # the docstring of the module
        bodies.append("\n".join(line for i, line in enumerate(lines) if i not in taken).strip())
    head = "\n".join(["from __future__ import annotations\n", *sorted(imports)])
    return "\n\n\n".join([_LEAD + "\n" + head, *bodies]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(bundle())
