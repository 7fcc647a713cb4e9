"""Read recorded requests: CSV with `arrival_s,input_tokens,output_tokens`, Azure, Mooncake."""

import csv
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sim.errors import InputError
from sim.records import FloatArray, IntArray
from sim.workload.mooncake import read_mooncake
from sim.workload.trace_rows import TraceRows, numbered

PLAIN = ("arrival_s", "input_tokens", "output_tokens")
AZURE = ("TIMESTAMP", "ContextTokens", "GeneratedTokens")
"""Columns of the Azure LLM Inference traces; the first is a date and time."""

CLASS = "class"
"""Column that a CSV may have besides: the class of each request, by name."""

CLOCK_S = 1e9
"""A first arrival later than this is a time since 1970 in seconds (1e9: September 2001)."""
CLOCK_MS = 1e12
"""And later than this one in milliseconds: in seconds it would be 30,000 years from now."""
_NS_PER_S = 1e9


def read_trace(path: Path) -> TraceRows:
    """Read a trace; a file that has not changed since it was last read is not read again."""
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(
            f"cannot read the trace ({error.strerror})", where=str(path), remedy="check the path"
        ) from error
    return _read(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, modified_ns: int, size_bytes: int) -> TraceRows:  # noqa: ARG001 (cache key)
    text = _text(path)
    if text.lstrip().startswith("{"):
        arrival_s, inputs, outputs, blocks = read_mooncake(path, text)
        named = () if blocks is None else (blocks.offsets, blocks.hashes)
        _freeze(arrival_s, inputs, outputs, *named)
        return TraceRows(arrival_s, inputs, outputs, blocks)
    header, rows, lines = _cells(path, text)
    names = _columns(path, header)
    table = _Table(path, header, rows, lines)
    table.check_fields()
    arrival_s = table.dates_s(names[0]) if names == AZURE else table.seconds(names[0])
    began_s = float(arrival_s[0])
    back = np.flatnonzero(np.diff(arrival_s) < 0)
    if len(back):
        row = int(back[0]) + 1
        raise table.fault(row, names[0], "is earlier than the row above", "sort the rows by time")
    columns = (arrival_s - arrival_s[0], table.tokens(names[1]), table.tokens(names[2]))
    if CLASS not in header:
        _freeze(*columns)
        return TraceRows(*columns, began_s=began_s)
    classes, class_names = numbered(table.names(CLASS))
    _freeze(*columns, classes)
    return TraceRows(*columns, request_class=classes, class_names=class_names, began_s=began_s)


def _freeze(*columns: FloatArray | IntArray) -> None:
    for column in columns:
        column.setflags(write=False)  # shared by every run that replays the trace


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(
            f"cannot read the trace ({error.strerror})",
            where=str(path),
            remedy="name a CSV or JSON-lines file",
        ) from error
    except UnicodeDecodeError as error:
        raise InputError(
            "the trace is not text in UTF-8", where=str(path), remedy="name a CSV file"
        ) from error


def _cells(path: Path, text: str) -> tuple[list[str], list[list[str]], list[int]]:
    """Return header, rows and the line in the file of each row; blank lines are skipped."""
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        reader = csv.reader(io.StringIO(text, newline=""))
        for cells in reader:
            if any(cells) and (len(cells) > 1 or cells[0].strip()):
                rows.append(cells)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(
            "the trace is not text in UTF-8", where=str(path), remedy="name a CSV file"
        ) from error
    if len(rows) < 2:  # a header and one request
        what = "a header but no requests" if rows else "nothing in it"
        raise InputError(f"the trace has {what}", where=str(path), remedy="give it a row or more")
    return [name.strip() for name in rows[0]], rows[1:], lines[1:]


def _columns(path: Path, header: Sequence[str]) -> tuple[str, str, str]:
    """Return the names of the three columns to read: those of the format that fits best."""
    best = min((PLAIN, AZURE), key=lambda names: len(set(names) - set(header)))
    missing = [name for name in best if name not in header]
    twice = [name for name in best if header.count(name) > 1]
    if twice:
        raise InputError(
            f"the header names {', '.join(twice)} twice",
            where=str(path),
            remedy="leave one column of that name",
        )
    if missing:
        raise InputError(
            f"the trace lacks the column {', '.join(missing)} (found {', '.join(header)})",
            where=str(path),
            remedy=f"its header should name {', '.join(PLAIN)} or {', '.join(AZURE)}",
        )
    return best


@dataclass(frozen=True, slots=True)
class _Table:
    """Cells of the file as text, with what is needed to say where a fault is."""

    path: Path
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    lines: Sequence[int]

    def fault(self, row: int, name: str, problem: str, remedy: str) -> InputError:
        cell = self.rows[row][self.header.index(name)].strip()
        return InputError(
            f"line {self.lines[row]}: {name} `{cell}` {problem}",
            where=str(self.path),
            remedy=remedy,
        )

    def _text(self, name: str) -> list[str]:
        index = self.header.index(name)
        return [cells[index] for cells in self.rows]

    def check_fields(self) -> None:
        """Refuse a row with fewer or more fields than the header: which is which is not known."""
        wanted = len(self.header)
        for line, cells in zip(self.lines, self.rows, strict=True):
            if len(cells) != wanted:
                raise InputError(
                    f"line {line} has {len(cells)} fields, the header has {wanted}",
                    where=str(self.path),
                    remedy="correct or remove the line",
                )

    def numbers(self, name: str) -> FloatArray:
        """Return a column of finite numbers."""
        text = self._text(name)
        try:
            values = np.array(text, dtype=np.float64)
        except ValueError:
            row = next(i for i, cell in enumerate(text) if not _is_number(cell))
            raise self.fault(row, name, "is not a number", "correct or remove the line") from None
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise self.fault(int(bad[0]), name, "is not finite", "correct or remove the line")
        return values

    def seconds(self, name: str) -> FloatArray:
        """Return a column of times in s; those of a clock in ms are told by their size."""
        values = self.numbers(name)
        if values[0] > CLOCK_MS:
            problem = "looks like milliseconds since 1970"
            raise self.fault(0, name, problem, "divide the column by 1,000: times are in seconds")
        return values

    def names(self, name: str) -> list[str]:
        """Return a column of names, none of them empty."""
        text = [cell.strip() for cell in self._text(name)]
        if "" in text:
            raise self.fault(text.index(""), name, "is no name", "name the class of every request")
        return text

    def tokens(self, name: str) -> IntArray:
        """Return a column of whole numbers, one or more."""
        values = self.numbers(name)
        bad = np.flatnonzero((values < 1) | (values != np.floor(values)) | (values > 1e9))
        if len(bad):
            problem = "is not a whole number of tokens, 1 or more"
            raise self.fault(int(bad[0]), name, problem, "correct or remove the line")
        return values.astype(np.int64)

    def dates_s(self, name: str) -> FloatArray:
        """Return a column of dates and times as seconds after the first row, to the nanosecond."""
        text = [cell.strip() for cell in self._text(name)]
        try:
            dates = _dates(text)
        except ValueError:
            row = next(i for i, cell in enumerate(text) if not _is_date(cell))
            raise self.fault(
                row, name, "is not a date and time", "write YYYY-MM-DD hh:mm:ss.fff"
            ) from None
        missing = np.flatnonzero(np.isnat(dates))
        if len(missing):
            raise self.fault(int(missing[0]), name, "is no time", "correct or remove the line")
        elapsed_ns = (dates - dates[0]).astype(np.float64)
        return np.asarray(elapsed_ns / _NS_PER_S, np.float64)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _dates(text: Sequence[str]) -> NDArray[np.datetime64]:
    with warnings.catch_warnings():
        # numpy warns that it turns times with an offset into UTC, which is just what we want.
        warnings.simplefilter("ignore", UserWarning)
        return np.array(text, dtype="datetime64[ns]")


def _is_date(cell: str) -> bool:
    try:
        _dates([cell])
    except ValueError:
        return False
    return True
