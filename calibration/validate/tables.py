"""The error tables as text cells, for a console or a document; nothing is printed here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from calibration.validate.errors import ErrorStats, GroupErrors
from calibration.validate.replay import Refusal
from calibration.validate.validation import Compared, Validation, group_errors

Quantity = Literal["tpot", "ttft"]
COLUMNS: Final = ("rows", "n", "mean", "median", "p90", "bias")


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """A table ready to be drawn: the first column is a name, the others are figures."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def error_tables(validation: Validation) -> tuple[ErrorTable, ...]:
    """Return the errors of TPOT and of TTFT, each over all rows and by group, and the refusals.

    Sizes of errors as mean, median and 90th percentile; bias is the median with its sign.
    """
    tables = (_errors("TPOT", "tpot", validation), _errors("TTFT", "ttft", validation))
    return (*tables, refusal_table(validation)) if validation.refused else tables


def _errors(title: str, quantity: Quantity, validation: Validation) -> ErrorTable:
    rows = tuple(_row(name, getattr(errors, quantity)) for name, errors in _groups(validation))
    return ErrorTable(f"Error of {title}", COLUMNS, rows)


def _groups(validation: Validation) -> Iterator[tuple[str, GroupErrors]]:
    """Name every group that has rows: all, by axis, engine with GPU, and suspect rows apart."""
    yield "all", validation.overall
    for axis, groups in validation.by.items():
        suffix = " users" if axis == "concurrency_band" else ""
        for name, errors in groups.items():
            if errors.ttft.n:
                yield f"{name}{suffix}", errors
    yield from _engines_on_gpus(validation)
    if validation.suspect.ttft.n:
        yield "marked suspect (in no other row)", validation.suspect


def _engines_on_gpus(validation: Validation) -> Iterator[tuple[str, GroupErrors]]:
    """Where kernels and host meet."""
    groups: dict[str, list[Compared]] = {}
    for row in validation.sound:
        groups.setdefault(f"{row.run.engine} on {row.run.gpu}", []).append(row)
    for name in sorted(groups):
        yield name, group_errors(groups[name])


def _row(name: str, stats: ErrorStats) -> tuple[str, ...]:
    if stats.mean_ape is None or stats.median_ape is None or stats.p90_ape is None:
        return (name, str(stats.n), *("–",) * 4)
    bias = stats.median_bias or 0.0
    sizes = (stats.mean_ape, stats.median_ape, stats.p90_ape)
    return (name, str(stats.n), *(f"{size:.1%}" for size in sizes), f"{bias:+.1%}")


def refusal_table(validation: Validation) -> ErrorTable:
    """Count the refused rows by reason, most frequent first."""
    return refusals_by_reason(validation.refused)


def refusals_by_reason(refused: Sequence[Refusal]) -> ErrorTable:
    """Count refusals by reason, most frequent first."""
    cases: dict[str, list[str]] = {}
    for refusal in refused:
        cases.setdefault(refusal.reason, []).append(refusal.case)
    ordered = sorted(cases.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = tuple((reason, str(len(named)), named[0]) for reason, named in ordered)
    return ErrorTable(f"Refused: {len(refused)}", ("reason", "n", "first case"), rows)
