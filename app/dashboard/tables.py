"""Tables whose text wraps: they are as wide as their place, and never scroll sideways."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final

import pandas as pd
import streamlit as st

from app.dashboard.markdown import escape
from sim.report.table import Column, Table
from sim.report.table import escape as escape_cell

_SHORT: Final = 12
_NO_BREAK: Final = "\u00a0"
_BREAK: Final = "\u200b"
"""Zero-width space: a line may end here."""


def draw(table: Table) -> None:
    """Draw a table of the reports with its title and note."""
    st.markdown(f"#### {escape(table.title)}")
    draw_rows([column.name for column in table.columns], table.rows)
    if table.note:
        st.caption(escape(table.note))


def draw_turned(table: Table) -> None:
    """Draw a table with its rows as columns: many figures of few things in a narrow place."""
    names = [row[0] for row in table.rows]
    rows = tuple(
        (column.name, *(row[place] for row in table.rows))
        for place, column in enumerate(table.columns)
        if place
    )
    draw(replace(table, columns=(table.columns[0], *map(Column, names)), rows=rows))


def draw_records(records: Sequence[Mapping[str, str]]) -> None:
    """Draw rows that name their columns."""
    if records:
        draw_rows(list(records[0]), [tuple(record.values()) for record in records])


def draw_rows(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Draw rows of words; an empty head or cell stays empty."""
    cells = [[_breakable(_whole(str(cell))) for cell in row] for row in rows]
    blanks = accumulate(int(not head) for head in heads)  # no two heads may be alike
    columns = [_breakable(head) or " " * n for head, n in zip(heads, blanks, strict=True)]
    st.table(pd.DataFrame(cells, columns=columns), hide_index=True, border="horizontal")


def _breakable(text: str) -> str:
    """Return a cell in Markdown whose long names may go on in the next line."""
    wrapped = text.replace("/", f"/{_BREAK}").replace("_", f"_{_BREAK}")
    return escape_cell(wrapped)


def _whole(text: str) -> str:
    """Keep a number and its unit in one line."""
    return text.replace(" ", _NO_BREAK) if len(text) <= _SHORT else text
