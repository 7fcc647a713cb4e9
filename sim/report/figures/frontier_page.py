"""The frontier as one HTML file that needs nothing else: finding, figure, ladder, origins."""

from collections.abc import Iterable, Sequence
from html import escape
from string import Template
from typing import Final

from sim.planning import Frontier, Rung
from sim.report.answer import stored_label
from sim.report.figures.frontier import frontier_figure
from sim.report.figures.frontier_words import frontier_finding
from sim.report.figures.page import card, page_html
from sim.report.figures.palette import style
from sim.report.words import NOTHING, gpu_label, maybe, ratio, significant, usd
from sim.units import MEGA

_STYLE: Final = """\
h1 { margin-bottom: 4px; }
p, li { max-width: 72ch; }
.muted { margin: 0 0 16px; }
.wide { margin-bottom: 8px; }
li { margin-bottom: 4px; }
th { vertical-align: bottom; }
thead th { white-space: nowrap; }
td.best { font-weight: 700; }
summary { cursor: pointer; margin: 32px 0 8px; font-weight: 600; }
"""
_BODY: Final = Template("""\
<p class="muted">$subtitle</p>
$figure
<h2>The best of each strategy, by the speed that a user gets</h2>
<div class="wide">$ladder</div>
<p class="muted">$legend</p>
<h2>What stands behind it</h2>
<ul>$assumptions</ul>
<h2>Where the numbers come from</h2>
<div class="wide">$origins</div>
<details><summary>All simulated points</summary><div class="wide">$points</div></details>""")


def frontier_html(frontier: Frontier, *, target: float | None = None, dark: bool = False) -> str:
    """Return the page; Plotly's own script is inside, so it opens without a network."""
    body = _BODY.substitute(
        subtitle=escape(_subtitle(frontier)),
        figure=card(frontier_figure(frontier, target=target, dark=dark), "frontier"),
        ladder=_ladder(frontier, dark=dark),
        legend=escape(_legend(frontier)),
        assumptions="".join(f"<li>{escape(line)}</li>" for line in frontier.assumptions),
        origins=_origins(frontier),
        points=_points(frontier),
    )
    return page_html(frontier_finding(frontier, target), body, dark=dark, style=_STYLE)


def _subtitle(frontier: Frontier) -> str:
    scenario, widths = frontier.scenario, {point.tensor_parallel for point in frontier.points}
    gpu = gpu_label(frontier.points[0].hardware)
    model = frontier.scenario.model if isinstance(scenario.model, str) else "own model"
    layout = ", ".join(f"TP{width}" for width in sorted(widths))
    stopped = "" if frontier.complete else " Stopped early: not all points are there."
    stored = stored_label(scenario.deployment.weights)
    return (
        f"{scenario.name}: {model} {stored} on {gpu}, {layout}, seed {scenario.run.seed}.{stopped}"
    )


def _legend(frontier: Frontier) -> str:
    baseline = frontier.label(frontier.baseline).lower()
    return (
        f"Output tokens/s per GPU at this user speed or faster; × is the ratio to {baseline} "
        f"where both get there. {NOTHING}: not reached. A user's speed is output tokens over the "
        "time to the last token, median over requests."
    )


def _ladder(frontier: Frontier, *, dark: bool) -> str:
    priced = any(point.output_tokens_per_usd for point in frontier.points)
    several = len({point.tensor_parallel for point in frontier.points}) > 1
    each = [
        "tokens/s<br>per GPU",
        *(["TP"] if several else []),
        *(["USD<br>per 1M"] if priced else []),
    ]
    groups = "".join(
        f'<th colspan="{len(each) + (item.strategy != frontier.baseline)}" '
        f'style="color:{style(item.strategy).color(dark=dark)}">'
        f"{escape(item.label)}{' (what-if)' if item.what_if else ''}</th>"
        for item in frontier.entries
    )
    heads = "".join(
        "".join(f"<th>{head}</th>" for head in each)
        + ("" if item.strategy == frontier.baseline else "<th>×</th>")
        for item in frontier.entries
    )
    lines = "".join(
        _rung(frontier, rung, priced=priced, several=several) for rung in frontier.ladder()
    )
    return (
        f'<table><thead><tr><th rowspan="2">tokens/s<br>per user</th>{groups}'
        f'<th rowspan="2" class="text">most<br>per GPU</th></tr><tr>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table>"
    )


def _rung(frontier: Frontier, rung: Rung, *, priced: bool, several: bool) -> str:
    cells = [f"<td>{significant(rung.user_tokens_per_s)}</td>"]
    for item in frontier.entries:
        name = item.strategy
        best = ' class="best"' if name == rung.winner else ""
        cells.append(
            f"<td{best}>{maybe(rung.output_tokens_per_s_per_gpu[name], significant)}</td>"
        )
        if several:
            cells.append(f"<td>{rung.tensor_parallel[name] or NOTHING}</td>")
        if priced:
            per_usd = rung.output_tokens_per_usd[name]
            cells.append(f"<td>{usd(MEGA / per_usd) if per_usd else NOTHING}</td>")
        if name != frontier.baseline:
            over = rung.ratio[name]
            cells.append(f"<td>{ratio(over, 2) if over else NOTHING}</td>")
    cells.append(f'<td class="text">{escape(_winner(frontier, rung))}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _winner(frontier: Frontier, rung: Rung) -> str:
    if rung.winner is None:
        return NOTHING
    labels = [frontier.label(name) for name in (rung.winner, *rung.tied)]
    return f"tie: {', '.join(labels)}" if rung.tied else labels[0]


def _origins(frontier: Frontier) -> str:
    """One row a part; parts that differ between strategies get a row for each."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for strategy, parts in frontier.provenance.items():
        for name, part in parts.items():
            error = f" (held-out error: {part.error})" if part.error else ""
            key = (name, part.origin, f"{part.source}{error}")
            lines.setdefault(key, []).append(frontier.label(strategy))
    everyone = len(frontier.provenance)
    body = [
        (name if len(labels) == everyone else f"{name}: {', '.join(labels)}", origin, source)
        for (name, origin, source), labels in lines.items()
    ]
    return _table(["part", "origin", "source"], body, text=True)


def _points(frontier: Frontier) -> str:
    heads = list(frontier.points[0].row())
    body = [[*map(_cell, point.row().values())] for point in frontier.points]
    return _table(heads, body, text=False)


def _cell(value: str | float | None) -> str:
    if value is None:
        return NOTHING
    return significant(value) if isinstance(value, float) else str(value)


def _table(heads: Sequence[str], body: Iterable[Sequence[str]], *, text: bool) -> str:
    align = ' class="text"' if text else ""
    head = "".join(f"<th{align}>{escape(cell)}</th>" for cell in heads)
    rows = "".join(
        "<tr>" + "".join(f"<td{align}>{escape(cell)}</td>" for cell in line) + "</tr>"
        for line in body
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
