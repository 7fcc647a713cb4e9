"""A page of text: sentences and tables drawn to the width of the terminal, plain in a file."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import Final

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from app.cli.output import emit
from sim.report.table import Table

WIDTH_OF_A_FILE: Final = 80
"""Columns where neither COLUMNS nor a terminal says."""
_WHOLE_WORD: Final = 20
"""Columns up to which a word stays whole; longer ones are folded after such a sign, if need be."""
_PIECE: Final = re.compile(r"[^/_.:=-]*[/_.:=-]+|[^/_.:=-]+")
_GAP: Final = 2
"""Blanks between the columns of a table."""
_BREAKS_A_NUMBER: Final = re.compile(r" (?=–)|(?<=–) |(?<=\d) (?=ms\b|s\b)")
"""Blanks inside a range, or between a number and its unit."""


class Page:
    """Lines and tables, collected and printed at once."""

    def __init__(self) -> None:
        terminal = sys.stdout.isatty()
        # COLUMNS first, and not where it is 0 or no number: Rich would draw to that.
        self._width = shutil.get_terminal_size((WIDTH_OF_A_FILE, 25)).columns
        self._console = Console(width=self._width, highlight=False, emoji=False, markup=False)
        self._plain = not terminal
        self._begun = False
        self._console.begin_capture()

    def line(self, text: str = "", style: str | None = None) -> None:
        """Add a paragraph, wrapped to the width."""
        self._begun = True
        self._console.print(Text(self._wrapped(text)), style=style, soft_wrap=True)

    def _wrapped(self, text: str, *, under: str = "") -> str:
        """Return text in lines of the width, broken at blanks outside numbers.

        `under` begins all lines but the first.
        """
        lines = textwrap.fill(
            _BREAKS_A_NUMBER.sub("\N{NO-BREAK SPACE}", text),
            self._width,
            subsequent_indent=under,
            break_on_hyphens=False,
            break_long_words=False,
        )
        return lines.replace("\N{NO-BREAK SPACE}", " ")

    def points(self, title: str, points: Iterable[str]) -> None:
        """Add a list under a title; nothing where it is empty."""
        lines = list(points)
        if not lines:
            return
        self.line()
        self.line(title, style="bold")
        for point in lines:
            self._console.print(Text(self._wrapped(f"- {point}", under="  ")), soft_wrap=True)

    def table(self, table: Table) -> None:
        """Add a table under its title."""
        if self._begun:
            self.line()
        self.line(table.title, style="bold")
        drawn = RichTable(
            box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0)
        )
        widths = _widths(table, self._width)
        for column, width in zip(table.columns, widths, strict=True):
            head = Text(column.name)
            drawn.add_column(head, justify=column.align, overflow="fold", width=width)
        for row in table.rows:
            drawn.add_row(
                *(Text(_folded(cell, width)) for cell, width in zip(row, widths, strict=True))
            )
        # Rich would cut what is too wide; a line that is too long loses nothing.
        self._console.width = max(self._width, sum(widths) + _GAP * (len(widths) - 1))
        self._console.print(drawn)
        self._console.width = self._width
        if table.note:
            self.line(table.note, style="dim")

    def show(self) -> None:
        """Print what was collected."""
        text = self._console.end_capture()
        # Rich fills cells with blanks up to the width; a file needs none of them.
        lines = (line.rstrip() for line in text.splitlines()) if self._plain else text.splitlines()
        emit("\n".join(lines) + "\n")


def _widths(table: Table, room: int) -> list[int]:
    """Return the widths of the columns: as they are, or the widest ones folded into the room.

    A number stays whole with its unit, a word stays whole, and so do the words of heads: where
    they are too many for the room the lines are longer than it.
    """
    widths, least = list[int](), list[int]()
    for place, column in enumerate(table.columns):
        cells = [row[place] for row in table.rows]
        words = " ".join(cells).split()
        whole = (
            cells
            if column.align == "right"
            else [part for word in words for part in _pieces(word)]
        )
        widths.append(max(map(cell_len, (column.name, *cells))))
        least.append(max(map(cell_len, (*column.name.split(), *whole)), default=0))
    excess = sum(widths) + _GAP * (len(widths) - 1) - room
    while excess > 0 and widths != least:
        spare = [place for place, width in enumerate(widths) if width > least[place]]
        widest = max(spare, key=lambda place: widths[place])
        widths[widest] -= 1
        excess -= 1
    return widths


def _pieces(word: str) -> list[str]:
    """Return the parts of a word between which it may be broken.

    >>> _pieces("autoregressive"), _pieces("meta-llama/Llama-3.3-70B-Instruct")[:3]
    (['autoregressive'], ['meta-', 'llama/', 'Llama-'])
    """
    if cell_len(word) <= _WHOLE_WORD:
        return [word]
    parts = _PIECE.findall(word)
    return [
        part[at : at + _WHOLE_WORD] for part in parts for at in range(0, len(part), _WHOLE_WORD)
    ]


def _folded(text: str, width: int) -> str:
    """Return text in lines of the width: broken at blanks, and inside long words only.

    >>> _folded("as in Llama-3.3-70B-Instruct-2507", 13).splitlines()
    ['as in Llama-', '3.3-70B-', 'Instruct-2507']
    """
    lines, line = list[str](), ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= width:
            line = joined
            continue
        gap = " " if line else ""
        for piece in _pieces(word):
            if cell_len(line) + len(gap) + cell_len(piece) > width and line:
                lines.append(line)
                line, gap = "", ""
            line, gap = f"{line}{gap}{piece}", ""
    return "\n".join([*lines, line])
