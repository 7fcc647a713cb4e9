"""The report as Markdown: the answer, the tables, what is not modelled."""

from collections.abc import Iterable

from sim.report.answer import answer, context
from sim.report.seeds import precision_sentence
from sim.report.table import escape, to_markdown
from sim.report.tables import outcome_tables
from sim.run import Outcome


def outcome_markdown(outcome: Outcome) -> str:
    """Return the whole report."""
    precision = precision_sentence(outcome)
    parts = [
        f"# {escape(outcome.scenario.name)}\n",
        f"**{escape(answer(outcome))}**\n",
        f"{escape(context(outcome))}\n",
        *([] if precision is None else [f"{escape(precision)}\n"]),
        *(to_markdown(table) for table in outcome_tables(outcome)),
        *_points("Notes", outcome.notes),
        *_points("Not modelled", outcome.not_modelled),
    ]
    return "\n".join(parts)


def _points(title: str, points: Iterable[str]) -> list[str]:
    lines = [f"- {escape(point)}\n" for point in points]
    return [f"## {title}\n", "".join(lines)] if lines else []
