"""Tables of the pages that are written from what was measured."""

from collections.abc import Iterable, Sequence


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""Return a table in Markdown, a line each, the last one ended too.

    >>> markdown_table(("GPU", "error"), [("l40s", "5 %")])
    '| GPU | error |\n| --- | --- |\n| l40s | 5 % |\n'
    """
    lines = (columns, ["---"] * len(columns), *rows)
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
