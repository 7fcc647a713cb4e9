"""CSV files as people have them: cells and lines, and what is wrong with the file as such."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sim.errors import InputError
from sim.yaml_files import read_text

UNFINISHED: Final = (
    "the file does not end with a line break: if it was cut off, its last row is wrong"
)
Rows = list[tuple[int, list[str]]]
"""Cells of each row, with the line of the file that it ends in."""
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}
_MOST_NAMED: Final = 8


def read_cells(path: Path) -> tuple[list[str], Rows]:
    """Return the header and the rows with their line in the file; blank lines are skipped.

    Raises `InputError` for what is no CSV file, and for one that is visibly cut off.
    """
    table = read_table(path)
    return table.header, table.rows


@dataclass(frozen=True, slots=True)
class Cells:
    """A CSV file, read once."""

    header: list[str]
    rows: Rows
    end: str | None
    """What a reader should know of a file that does not end with a line break."""


def read_table(path: Path) -> Cells:
    """Return what `read_cells` does, with a word on the end of the file."""
    text = read_text(path, kind="CSV file (UTF-8 text)", newline="")
    if text.lstrip().startswith(("{", "[")):
        raise InputError("this is JSON, not a CSV table", where=str(path))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise _malformed(path, reader.line_num, error) from None
    lines = [(line, row) for line, row in lines if any(row)]
    if not lines:
        raise InputError("the file is empty", where=str(path))
    (_, header), rows = lines[0], lines[1:]
    _check_separator(path, header)
    whole = text.endswith(("\n", "\r"))
    if rows and not whole:
        _check_end(path, rows)
    return Cells(header, rows, None if whole else UNFINISHED)


def header_in(text: str) -> list[str] | None:
    r"""Return the header of a CSV table as `read_cells` does; None for JSON and for what is none.

    >>> header_in("\n case , model\nx,y\n"), header_in('{"case": 1}'), header_in(" \n")
    (['case', 'model'], None, None)
    """
    if text.lstrip().startswith(("{", "[")):
        return None
    try:
        rows = (
            [cell.strip() for cell in row] for row in csv.reader(io.StringIO(text, newline=""))
        )
        return next((cells for cells in rows if any(cells)), None)
    except csv.Error:
        return None  # a cell of more than 128 KiB


def _malformed(path: Path, line: int, error: csv.Error) -> InputError:
    """Say what is wrong with the quotes, which swallow whole rows where they do not close."""
    if "unexpected end" in str(error):
        return InputError(
            "a quotation mark opens a cell and none closes it; is the file cut off?",
            where=str(path),
        )
    if "expected after" in str(error):
        return InputError(f"line {line}: text follows a cell that its quotes closed",
                          where=str(path))  # fmt: skip
    return InputError("this is not a CSV file (UTF-8 text)", where=str(path))


def _check_separator(path: Path, header: Sequence[str]) -> None:
    found = [mark for mark in _SEPARATORS if mark in header[0]]
    if len(header) == 1 and found:
        raise InputError(
            f"its cells are separated by {_SEPARATORS[found[0]]}",
            where=str(path),
            remedy="save it with commas between the cells and points in decimals",
        )


def _check_end(path: Path, rows: Rows) -> None:
    """Refuse a last cell without a line break after it that looks like the start of another."""
    line, cells = rows[-1]
    last = cells[-1]
    above = {row[-1] for _, row in rows[:-1] if len(row) == len(cells)}
    longer = sorted(cell for cell in above if cell.startswith(last) and cell != last)
    begun = last and last not in above and longer and not _is_number(last)
    if begun or (last.endswith((".", "e", "E", "-", "+")) and _is_number(f"{last}0")):
        like = f", as `{longer[0]}` begins" if longer else ""
        raise InputError(
            f"line {line} ends with `{last}` and no line break{like}; is the file cut off?",
            where=str(path),
            remedy="if it is whole, end it with a line break",
        )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def unfinished(path: Path) -> str | None:
    """Return what a reader should know of a table that does not end with a line break."""
    with path.open("rb") as file:
        file.seek(0, io.SEEK_END)
        file.seek(max(0, file.tell() - 1))
        end = file.read()
    return None if end in {b"\n", b"\r", b""} else UNFINISHED


def named(names: Sequence[str]) -> str:
    """Return the first of some columns or keys, for a message that says what was found.

    >>> named(["a", "b"])
    '`a`, `b`'
    """
    shown = [f"`{name[:40]}`" for name in names[:_MOST_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def check_shape(path: Path, header: list[str], rows: Rows, *, example: str | None = None) -> None:
    """Raise `InputError` where cells and columns do not match, or a row stands there twice.

    `example` is a row, for who has none.
    """
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        raise InputError(f"the column `{twice[0]}` is given twice", where=str(path))
    for line, row in rows:
        if len(row) != len(header):
            raise InputError(
                f"line {line} has {len(row)} cells, the header {len(header)}", where=str(path)
            )
        if row == header:
            raise InputError(
                f"line {line} repeats the header", where=str(path), remedy="remove it"
            )
    if not rows:
        like = None if example is None else f"add one a run, such as `{example}`"
        raise InputError("the table has no rows", where=str(path), remedy=like)
    _check_repeats(path, rows)


def _check_repeats(path: Path, rows: Rows) -> None:
    """Refuse a row that stands there twice: it would count twice in every error."""
    seen: dict[tuple[str, ...], int] = {}
    for line, row in rows:
        first = seen.setdefault(tuple(row), line)
        if first != line:
            raise InputError(
                f"line {line} repeats line {first}", where=str(path), remedy="remove one of them"
            )
