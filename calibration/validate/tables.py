"""The error tables as text cells, for a console or a document; nothing is printed here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from calibration.validate.errors import ErrorStats, GroupErrors
from calibration.validate.validation import Compared, Validation, group_errors

AXES: Final[Mapping[str, str]] = {
    "model": "model",
    "gpu": "GPU",
    "engine": "engine",
    "weights": "weights",
    "concurrency_band": "concurrent users",
}


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """A table ready to be drawn: the first column is a name, the others are figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def error_tables(validation: Validation) -> tuple[ErrorTable, ...]:
    """Return the errors over all sound rows, by group, of the suspect rows, and the refusals."""
    tables = [_table("All rows", "rows", {"all": validation.overall})]
    tables += [
        _table(f"By {AXES[axis]}", AXES[axis], groups) for axis, groups in validation.by.items()
    ]
    if validation.suspect.ttft.n:
        tables.append(
            _table("Marked suspect in the file", "rows", {"suspect": validation.suspect})
        )
    if validation.refused:
        tables.append(_refusals(validation))
    return tuple(tables)


def group_table(validation: Validation) -> ErrorTable:
    """Return the errors by engine and GPU together, where kernels and host meet."""
    groups: dict[str, list[Compared]] = {}
    for row in validation.sound:
        groups.setdefault(f"{row.run.engine} on {row.run.gpu}", []).append(row)
    errors = {name: group_errors(groups[name]) for name in sorted(groups)}
    return _table("By engine and GPU", "engine and GPU", errors)


def _table(title: str, first: str, groups: Mapping[str, GroupErrors]) -> ErrorTable:
    columns = [first, "n"]
    for quantity in ("TPOT", "TTFT"):
        columns += [f"{quantity} mean", "median", "p90", "bias"]
    rows = tuple(
        (name, str(errors.ttft.n), *_cells(errors.tpot), *_cells(errors.ttft))
        for name, errors in groups.items()
    )
    return ErrorTable(title, tuple(columns), rows)


def _cells(stats: ErrorStats) -> tuple[str, ...]:
    if stats.mean_ape is None or stats.median_ape is None or stats.p90_ape is None:
        return ("–",) * 4
    bias = stats.median_bias or 0.0
    sizes = (stats.mean_ape, stats.median_ape, stats.p90_ape)
    return (*(f"{size:.1%}" for size in sizes), f"{bias:+.1%}")


def _refusals(validation: Validation) -> ErrorTable:
    """Count the refused rows by reason, most frequent first."""
    cases: dict[str, list[str]] = {}
    for refusal in validation.refused:
        cases.setdefault(refusal.reason, []).append(refusal.case)
    ordered = sorted(cases.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = tuple((reason, str(len(named)), named[0]) for reason, named in ordered)
    return ErrorTable("Refused", ("reason", "n", "first case"), rows)
