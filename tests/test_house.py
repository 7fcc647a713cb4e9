"""The rules of the house that no linter knows: size, start-up weight, and what stays out."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("app", "calibration", "hardware_profiles", "sim")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

MOST_LINES_OF_A_FILE = 250
MOST_LINES_OF_A_FUNCTION = 50
HEAVY = {"matplotlib", "pandas", "plotly", "pyarrow", "scipy", "streamlit", "torch", "xlsxwriter"}
LIGHT_ENTRIES = {
    "sim": "sim/__init__.py",
    "sim.run": "sim/run.py",
    "app.cli.main": "app/cli/main.py",
}
# One-letter names that formulas of this field share; anything else is spelt out.
FORMULA_NAMES = set("knpqxy_")
# Split, so that this file does not hold what it looks for.
MACHINE_PATHS = [rf"(?<![\w.])/{top}/" for top in ("work", "root", "home", "Users")]
INDEX_ADDRESSES = ["index" + "-url", "find" + "-links", "pypi" + r"\.org/simple"]
STAYS_OUT = re.compile("|".join([*MACHINE_PATHS, *INDEX_ADDRESSES]))


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def tracked_text_files() -> Iterator[tuple[Path, str]]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listing.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, listing.stdout.split("\0")):
        try:
            yield ROOT / name, (ROOT / name).read_text("utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue


def test_no_file_is_longer_than_a_reader_takes_in_at_one_sitting() -> None:
    lengths = {relative(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert not {name: n for name, n in lengths.items() if n > MOST_LINES_OF_A_FILE}


def test_no_function_is_longer_than_a_screen() -> None:
    lengths = {
        f"{relative(path)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in [*SOURCES, *TESTS]
        for node in functions(path)
    }
    assert not {name: n for name, n in lengths.items() if n > MOST_LINES_OF_A_FUNCTION}


def test_parameters_of_functions_have_names() -> None:
    letters = [
        f"{relative(path)}:{node.lineno} {node.name}({argument.arg})"
        for path in SOURCES
        for node in functions(path)
        for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if len(argument.arg) == 1 and argument.arg not in FORMULA_NAMES
    ]
    assert not letters


def test_every_package_says_what_it_is() -> None:
    inits = [path for path in SOURCES if path.name == "__init__.py"]
    assert not [
        relative(path)
        for path in inits
        if not (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").strip()
    ]


def test_no_path_of_one_machine_and_no_package_index_is_in_the_repository() -> None:
    found = [
        f"{relative(path)}: {match.group()}"
        for path, text in tracked_text_files()
        for match in STAYS_OUT.finditer(text)
    ]
    assert not found


@pytest.mark.parametrize(
    "module", [name for name, file in LIGHT_ENTRIES.items() if (ROOT / file).exists()]
)
def test_heavy_packages_load_only_where_they_are_used(module: str) -> None:
    script = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not HEAVY & set(loaded.stdout.split())
