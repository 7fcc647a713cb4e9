"""The collector as one file: what it imports, and that it is whole. Needs no torch."""

import ast
import sys

from calibration.collect.bundle import MODULES, bundle


def test_the_one_file_imports_the_standard_library_and_torch_only() -> None:
    tree = ast.parse(bundle())
    names = {
        (node.module if isinstance(node, ast.ImportFrom) else alias.name) or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    tops = {name.partition(".")[0] for name in names}
    assert tops - set(sys.stdlib_module_names) == {"torch"}


def test_every_name_is_defined_before_the_script_starts_and_once() -> None:
    tree = ast.parse(bundle())
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert len(defined) == len(set(defined))
    assert {"Device", "plan", "provenance", "link_rows", "collect", "main"} <= set(defined)
    assert isinstance(tree.body[-1], ast.If)
    assert len(MODULES) == 6


def test_the_first_statement_is_the_manual() -> None:
    manual = ast.get_docstring(ast.parse(bundle()))
    assert manual is not None
    assert "python collect.py --out timings.csv" in manual


def test_the_one_file_runs_on_the_python_of_older_machines() -> None:
    """Ubuntu 22.04 has Python 3.10: no newer syntax, and no newer names of the library."""
    ast.parse(bundle(), feature_version=(3, 9))
    assert bundle().partition('"""\n\n')[2].startswith("from __future__ import annotations")
    assert not {"UTC", "Self", "StrEnum", "tomllib", "ExceptionGroup"} & {
        alias.name
        for node in ast.walk(ast.parse(bundle()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
