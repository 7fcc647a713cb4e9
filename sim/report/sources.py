"""Sources under a table: each once, by the number that the rows of the table give."""

from collections.abc import Iterable, Mapping
from typing import Any

from sim.report.table import Table, columns


def sources_table(facts: Iterable[Mapping[str, Any]]) -> Table:
    """Return where figures were read, under the numbers that the other tables give them."""
    rows = tuple((str(place), text) for text, place in source_numbers(facts).items())
    return Table("Sources", columns("", "<read in"), rows)


def source_numbers(facts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return a number for each source, in the order in which they are met."""
    return {text: place for place, text in enumerate(dict.fromkeys(map(source_of, facts)), 1)}


def source_of(row: Mapping[str, Any]) -> str:
    """Return the source with what to know about the figure."""
    return f"{row['source']}; {row['note']}" if row.get("note") else str(row["source"])
