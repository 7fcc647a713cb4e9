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
_NARROWEST_WORDS: Final = 6
"""Columns that words are folded into, at least; numbers are never folded."""
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
        kept = _BREAKS_A_NUMBER.sub("\N{NO-BREAK SPACE}", text)
        wrapped = textwrap.fill(kept, self._width, break_on_hyphens=False)
        self._console.print(Text(wrapped.replace("\N{NO-BREAK SPACE}", " ")), style=style)

    def points(self, title: str, points: Iterable[str]) -> None:
        """Add a list under a title; nothing where it is empty."""
        lines = list(points)
        if not lines:
            return
        self.line()
        self.line(title, style="bold")
        grid = RichTable.grid(padding=(0, 1, 0, 0))
        for point in lines:
            grid.add_row("-", Text(point))
        self._console.print(grid)

    def table(self, table: Table) -> None:
        """Add a table under its title."""
        if self._begun:
            self.line()
        self.line(table.title, style="bold")
        drawn = RichTable(
            box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0)
        )
        least: list[int] = []
        for place, column in enumerate(table.columns):
            numbers = column.align == "right"
            longest = max(map(cell_len, (column.name, *(row[place] for row in table.rows))))
            least.append(longest if numbers else _NARROWEST_WORDS)
            drawn.add_column(
                column.name,
                justify=column.align,
                overflow="fold",
                no_wrap=numbers,
                min_width=least[-1],
            )
        for row in table.rows:
            drawn.add_row(*(Text(cell) for cell in row))
        # Rich would cut numbers and units to the width; a line that is too long loses nothing.
        self._console.width = max(self._width, sum(least) + _GAP * (len(least) - 1))
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
