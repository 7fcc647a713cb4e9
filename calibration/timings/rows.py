"""Rows of figures, as tools write them, on their way to checked timings."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

from calibration.timings.schema import COLUMNS, NOT_IDENTITY
from calibration.timings.table import Timings, checked, from_columns
from sim.errors import InputError

Row = Mapping[str, object]


def from_rows(rows: Sequence[Row], where: str) -> Timings:
    """Return rows with the columns of the schema as timings, or raise one sentence."""
    columns = {name: [row.get(name) for row in rows] for name in COLUMNS}
    known = {name: cells for name, cells in columns.items() if any(c is not None for c in cells)}
    try:
        table = from_columns(known, len(rows))
    except OverflowError:
        raise InputError("holds a number of more than 64 bits", where=where) from None
    return checked(table, where)


def medians(rows: Iterable[Row]) -> list[Row]:
    """Return one row a kernel: the median of those that time the same one, and how many."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in COLUMNS if name not in NOT_IDENTITY)
        groups.setdefault(key, []).append(row)
    return [
        {
            **group[0],
            "latency_s": median(float(str(row["latency_s"])) for row in group),
            "repeats": len(group) if len(group) > 1 else group[0].get("repeats"),
        }
        for group in groups.values()
    ]
