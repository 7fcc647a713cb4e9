"""`paretoken show`: everything that is known of one model, GPU, workload or scenario."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import yaml

from app.cli.catalog import Facts, model_facts
from app.cli.exits import ANSWER
from app.cli.output import emit, emit_json
from app.cli.page import Page
from sim.hardware import load_gpu
from sim.hardware.profile import Sourced
from sim.report.document import scenario_document
from sim.report.table import Table, columns
from sim.report.words import NOTHING, count, number
from sim.scenario import load_scenario
from sim.workload import load_workload_preset

Kind = Literal["model", "hardware", "workload", "scenario"]


def show_one(kind: Kind, reference: str, *, as_json: bool) -> int:
    """Print one thing of the catalog, or of a file."""
    facts = _FACTS[kind](reference)
    if as_json:
        emit_json(facts)
    elif kind == "hardware":
        _print(_hardware_table(facts))
    elif kind == "model":
        rows = tuple((key.replace("_", " "), _cell(value)) for key, value in facts.items())
        _print(Table(facts["name"], columns("<", "<value"), rows))
    else:
        emit(yaml.safe_dump(facts, sort_keys=False, allow_unicode=True, width=100))
    return ANSWER


def _print(table: Table) -> None:
    page = Page()
    page.table(table)
    page.show()


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key.replace('_', ' ')} {item}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return count(value) if isinstance(value, int | float) else str(value)


def _hardware(reference: str) -> Facts:
    """Return a profile in SI units, each figure with its source."""
    return load_gpu(reference).model_dump(mode="json")


def _hardware_table(facts: Facts) -> Table:
    rows: list[tuple[str, ...]] = []
    for key, value in facts.items():
        if isinstance(value, Mapping):
            figure = Sourced.model_validate(value)
            source = f"{figure.source} ({figure.as_of})"
            note = f"; {figure.note}" if figure.note else ""
            rows.append((key.replace("_", " "), _engineering(figure.value), source + note))
        elif value is None:
            rows.append((key.replace("_", " "), NOTHING, "does not have it, or not known"))
    heads = columns("<", "value", "<source")
    return Table(f"{facts['name']} ({facts['vendor']})", heads, tuple(rows), "In SI units")


def _engineering(value: float) -> str:
    """Return a figure with its SI prefix.

    >>> _engineering(3.35e12)
    '3.35 T'
    """
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{number(value / factor)} {prefix}"
    return count(value)


def _workload(reference: str) -> Facts:
    return load_workload_preset(reference).model_dump(mode="json", exclude_none=True)


def _scenario(reference: str) -> Facts:
    return scenario_document(load_scenario(reference))


_FACTS: Final[Mapping[Kind, Callable[[str], dict[str, Any]]]] = {
    "model": model_facts,
    "hardware": _hardware,
    "workload": _workload,
    "scenario": _scenario,
}
