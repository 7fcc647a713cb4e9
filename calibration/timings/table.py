"""A table of kernel timings in memory: what is wrong with one, and its parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from calibration.timings.schema import (
    COLUMNS,
    LONGEST_S,
    NOT_IDENTITY,
    OPERATIONS,
    SHAPES,
    SHORTEST_S,
)
from sim.errors import InputError
from sim.precision import PRECISIONS
from sim.records import FloatArray
from sim.units import counted

if TYPE_CHECKING:
    import pyarrow as pa

_PRIME: Final = np.uint64(0x9E3779B97F4A7C15)
_HEADER: Final = 1
_PANDAS: Final = "__index_level_"
"""A column that pandas writes of the index of a part of a table."""
"""Rows are counted from 1 in messages."""


@dataclass(frozen=True, slots=True)
class Timings:
    """Checked rows of the schema; see `checked`."""

    table: "pa.Table"

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def where(self, **wanted: str | Sequence[str]) -> "Timings":
        """Return the rows whose text columns have one of the wanted values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table = self.table
        for name, value in wanted.items():
            values = [value] if isinstance(value, str) else list(value)
            column = table[name]
            if pa.types.is_dictionary(column.type):
                column = column.cast(pa.string())
            rows = pc.is_in(column, value_set=pa.array(values, pa.string()))
            if not pc.all(rows, min_count=0).as_py():  # copying a million rows takes its time
                table = table.filter(rows)
        return Timings(table)

    def keep(self, rows: Any) -> "Timings":  # noqa: ANN401  # a mask of booleans
        """Return the rows that a mask picks."""
        import pyarrow as pa

        return Timings(self.table.filter(pa.array(np.asarray(rows, dtype=bool))))

    def number(self, name: str) -> FloatArray:
        """Return a column as floats, NaN where it is null."""
        import pyarrow as pa

        column = self.table[name].cast(pa.float64())
        values: FloatArray = column.to_numpy(zero_copy_only=False)
        return np.asarray(values, dtype=np.float64)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return the different values of a text column, sorted, nulls left out."""
        return tuple(sorted(value for value in self.table[name].unique().to_pylist() if value))


def arrow_schema() -> "pa.Schema":
    """Return the columns with their Arrow types."""
    import pyarrow as pa

    kinds = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "flag": pa.bool_(),
    }
    return pa.schema([pa.field(name, kinds[spec.kind]) for name, spec in COLUMNS.items()])


def from_columns(columns: Mapping[str, Any], rows: int) -> "pa.Table":
    """Return a table of the schema from some of its columns; a single value fills a column."""
    import pyarrow as pa

    made = []
    for field in arrow_schema():
        value = columns.get(field.name)
        if value is None:
            made.append(pa.nulls(rows, field.type))
        elif isinstance(value, str | bool | int | float):
            made.append(pa.repeat(pa.scalar(value, field.type), rows))
        else:
            made.append(pa.array(value).cast(field.type))
    return pa.Table.from_arrays(made, schema=arrow_schema())


def checked(table: "pa.Table", where: str) -> Timings:
    """Return a table as timings, or say in one sentence what is wrong with it."""
    table = _typed(table, where)
    if not table.num_rows:
        raise InputError("holds no kernel", where=where)
    _check_required(table, where)
    _check_words(table, "operation", OPERATIONS, where)
    _check_words(table, "precision", (*PRECISIONS, "fp32"), where)
    _check_words(table, "kv_precision", (*PRECISIONS, "fp32"), where)
    _check_latency(table, where)
    _check_shapes(table, where)
    _check_repeated(table, where)
    return Timings(table)


def _typed(table: "pa.Table", where: str) -> "pa.Table":
    import pyarrow as pa

    names = table.column_names
    missing = [name for name, spec in COLUMNS.items() if spec.required and name not in names]
    if missing:
        raise InputError(f"lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}",
                         where=where)  # fmt: skip
    unknown = [name for name in names if name not in COLUMNS and not name.startswith(_PANDAS)]
    if unknown:
        raise InputError(f"unknown column {', '.join(unknown[:5])}", where=where)
    columns = []
    for field in arrow_schema():
        if field.name not in names:
            columns.append(pa.nulls(table.num_rows, field.type))
            continue
        try:
            columns.append(table[field.name].cast(field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            kind = COLUMNS[field.name].kind
            problem = f"the column {field.name} should hold {kind} values"
            raise InputError(problem, where=where) from None
    return pa.Table.from_arrays(columns, schema=arrow_schema())


def _check_required(table: "pa.Table", where: str) -> None:
    for name, spec in COLUMNS.items():
        if spec.required and table[name].null_count:
            row = table[name].is_null().to_pylist().index(True) + _HEADER
            raise InputError(f"row {row} has no {name}", where=where)


def _check_words(table: "pa.Table", name: str, known: Sequence[str], where: str) -> None:
    odd = [value for value in table[name].unique().to_pylist() if value and value not in known]
    if odd:
        raise InputError(
            f"unknown {name} `{odd[0]}`", where=where, remedy=f"known: {', '.join(known)}"
        )


def _check_latency(table: "pa.Table", where: str) -> None:
    latency = np.asarray(table["latency_s"].to_numpy(zero_copy_only=False))
    wrong = ~(latency > 0) | ~np.isfinite(latency)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{counted(int(wrong.sum()), 'row')} without a positive latency, the first is row"
            f" {row + _HEADER} ({latency[row]})",
            where=where,
            remedy="remove them",
        )
    odd = (latency < SHORTEST_S) | (latency > LONGEST_S)
    if odd.any():
        row = int(np.argmax(odd))
        raise InputError(
            f"row {row + _HEADER} has a latency of {latency[row]:g} s, which no kernel takes",
            where=where,
            remedy="latency_s is in seconds",
        )


def _check_shapes(table: "pa.Table", where: str) -> None:
    import pyarrow.compute as pc

    for operation in table["operation"].unique().to_pylist():
        rows = pc.equal(table["operation"], operation)
        mine = table.filter(rows)
        for name in SHAPES[operation]:
            column = mine[name]
            if column.null_count or pc.min(column).as_py() < 1:
                wrong = pc.and_(
                    rows, pc.invert(pc.fill_null(pc.greater(table[name], 0), fill_value=False))
                )
                row = wrong.to_pylist().index(True) + _HEADER
                problem = f"row {row}, of {operation}, has no {name}, or less than 1"
                raise InputError(problem, where=where)


def _check_repeated(table: "pa.Table", where: str) -> None:
    _, first, counts = np.unique(kernel_keys(table), return_index=True, return_counts=True)
    if (counts > 1).any():
        place = int(first[counts > 1].min())
        again = np.flatnonzero(kernel_keys(table) == kernel_keys(table)[place])[1]
        raise InputError(
            f"{counted(int((counts > 1).sum()), 'kernel')} given more than once: rows"
            f" {place + _HEADER} and {again + _HEADER} time the same one",
            where=where,
            remedy="keep one row of each, such as the median",
        )


def kernel_keys(table: "pa.Table") -> "np.typing.NDArray[np.uint64]":
    """Return a number for each row that is the same for rows that time the same kernel.

    A 64-bit polynomial hash of the columns that identify it: among ten million rows the chance
    of one false match is below 1e-5.
    """
    keys = np.zeros(table.num_rows, dtype=np.uint64)
    for name in COLUMNS:
        if name in NOT_IDENTITY or table[name].null_count == table.num_rows:
            continue
        codes = table[name].combine_chunks().dictionary_encode(null_encoding="encode").indices
        with np.errstate(over="ignore"):
            keys = (keys ^ (keys >> np.uint64(29))) * _PRIME + codes.to_numpy().astype(np.uint64)
    return keys
