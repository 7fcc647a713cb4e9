"""A table without a look: the console draws it, Markdown and the terminal share its words."""

from dataclasses import dataclass
from typing import Literal

Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column."""

    name: str
    align: Align = "right"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words under heads; `note` explains how to read them."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str | None = None


def columns(*heads: str) -> tuple[Column, ...]:
    """Return heads; one that begins with `<` is aligned to the left, as words are.

    >>> columns("<part", "value")[0]
    Column(name='part', align='left')
    """
    return tuple(
        Column(head.removeprefix("<"), "left" if head.startswith("<") else "right")
        for head in heads
    )


def to_markdown(table: Table) -> str:
    """Return the table in Markdown, with its title as a heading of the second level."""
    heads = " | ".join(column.name for column in table.columns)
    rules = " | ".join("---" if column.align == "left" else "---:" for column in table.columns)
    lines = [f"## {table.title}", "", f"| {heads} |", f"| {rules} |"]
    lines += ["| " + " | ".join(escape(cell) for cell in row) + " |" for row in table.rows]
    if table.note:
        lines += ["", escape(table.note)]
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Return text that Markdown shows as it is; a dollar sign, too, may start a formula."""
    for sign in ("\\", "|", "$", "<", "*", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text
