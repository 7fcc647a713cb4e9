"""A frontier in words: who gives the most at which user speed, and by how much."""

from collections.abc import Mapping
from html import escape
from itertools import groupby
from typing import Any

from sim.planning import Frontier, Rung
from sim.planning.ladder import TIE
from sim.report.document import scenario_document
from sim.report.figures import CONFIG, frontier_figure
from sim.report.table import Table, columns
from sim.report.words import NOTHING, count, number

PER_GPU = "Output tokens/s per GPU"
PER_USD = "Output tokens per dollar"


def frontier_answer(found: Frontier) -> str:
    """Return which strategy gives the most per GPU, by user speed, in one sentence."""
    rungs = [rung for rung in found.ladder() if rung.winner is not None]
    if not rungs:
        return f"No strategy serves {found.scenario.name} inside its targets."
    regions = [list(group) for _, group in groupby(rungs, key=lambda rung: rung.winner)]
    parts = [
        f"{found.label(region[0].winner or '').lower()} {_speeds(region, is_first=not place)}"
        for place, region in enumerate(regions)
    ]
    listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"The most output per GPU on {found.scenario.name}: {listed} tokens/s per user."


def _speeds(region: list[Rung], *, is_first: bool) -> str:
    low, high = region[0].user_tokens_per_s, region[-1].user_tokens_per_s
    if is_first:
        return f"up to {high:g}"
    return f"at {high:g}" if low == high else f"from {low:g} to {high:g}"


def frontier_tables(found: Frontier) -> tuple[Table, ...]:
    """Return what each strategy gives at each user speed: per GPU, and per dollar with a price."""
    rungs = found.ladder()
    heads = ("tokens/s per user", *(item.label for item in found.entries))
    per_gpu = tuple(_row(found, rung) for rung in rungs)
    baseline = found.label(found.baseline).lower()
    best = f"*: the most, or less than {TIE:.0%} behind it"
    note = f"{best}; ×: compared with {baseline}; {NOTHING}: not that fast inside the targets"
    tables = [Table(PER_GPU, columns(*heads), per_gpu, note)]
    if any(value for rung in rungs for value in rung.output_tokens_per_usd.values()):
        per_usd = tuple(
            (_speed(rung), *(_whole(rung.output_tokens_per_usd, found))) for rung in rungs
        )
        tables.append(Table(PER_USD, columns(*heads), per_usd))
    return tuple(tables)


def _row(found: Frontier, rung: Rung) -> tuple[str, ...]:
    return (_speed(rung), *(_cell(found, rung, item.strategy) for item in found.entries))


def _speed(rung: Rung) -> str:
    return f"{rung.user_tokens_per_s:g}"


def _cell(found: Frontier, rung: Rung, strategy: str) -> str:
    value, ratio = rung.output_tokens_per_s_per_gpu[strategy], rung.ratio[strategy]
    if value is None:
        return NOTHING
    text = f"* {number(value)}" if strategy in {rung.winner, *rung.tied} else number(value)
    if len({point.tensor_parallel for point in found.points}) > 1:
        text += f" TP{rung.tensor_parallel[strategy]}"
    if ratio is not None and strategy != found.baseline:
        text += f" {ratio:.2f}×"
    return text


def _whole(values: Mapping[str, float | None], found: Frontier) -> list[str]:
    row = [values[item.strategy] for item in found.entries]
    return [NOTHING if value is None else count(value) for value in row]


def frontier_document(found: Frontier) -> dict[str, Any]:
    """Return the frontier as plain values: the JSON object."""
    return {
        "answer": frontier_answer(found),
        "complete": found.complete,
        "scenario": scenario_document(found.scenario),
        "baseline": found.baseline,
        "strategies": [
            {
                "strategy": item.strategy,
                "label": item.label,
                "lossless": item.lossless,
                "what_if": item.what_if,
            }
            for item in found.entries
        ],
        "ladder": [
            {
                "user_tokens_per_s": rung.user_tokens_per_s,
                "output_tokens_per_s_per_gpu": dict(rung.output_tokens_per_s_per_gpu),
                "output_tokens_per_usd": dict(rung.output_tokens_per_usd),
                "tensor_parallel": dict(rung.tensor_parallel),
                "ratio": dict(rung.ratio),
                "winner": rung.winner,
                "tied": list(rung.tied),
            }
            for rung in found.ladder()
        ],
        "points": found.rows(),
        "provenance": {
            strategy: {
                name: {"origin": part.origin, "source": part.source, "error": part.error}
                for name, part in parts.items()
            }
            for strategy, parts in found.provenance.items()
        },
        "assumptions": list(found.assumptions),
    }


def frontier_html(found: Frontier) -> str:
    """Return a page that needs no network: the answer, the figure, the tables, what is assumed."""
    drawing = frontier_figure(found).to_html(
        full_html=False, include_plotlyjs=True, config=CONFIG, div_id="frontier"
    )
    parts = [
        f"<h1>{escape(frontier_answer(found))}</h1>",
        drawing,
        *(_html_table(table) for table in frontier_tables(found)),
        "<ul>",
        *(f"<li>{escape(sentence)}</li>" for sentence in found.assumptions),
        "</ul>",
    ]
    head = f'<meta charset="utf-8"><title>{escape(found.scenario.name)}</title>{_STYLE}'
    return f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(parts)}</body></html>"


_STYLE = (
    "<style>body{font:15px system-ui,sans-serif;color:#1B2330;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}h1{font-size:1.35rem}table{border-collapse:collapse}"
    "td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #E9EDF2}"
    "td:first-child{font-weight:600}</style>"
)


def _html_table(table: Table) -> str:
    heads = "".join(f"<th>{escape(column.name)}</th>" for column in table.columns)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows
    )
    note = f"<p>{escape(table.note)}</p>" if table.note else ""
    return f"<h2>{escape(table.title)}</h2><table><tr>{heads}</tr>{rows}</table>{note}"
