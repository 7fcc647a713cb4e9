"""What a user sees of one answer over time, under each strategy; and the page that holds it."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Final

from sim.planning.anatomy import Anatomy
from sim.report.anatomy import anatomy_answer, anatomy_tables
from sim.report.figures.page import card, page_html
from sim.report.figures.palette import palette, style, translucent
from sim.report.figures.template import Figure, figure
from sim.report.table import Table
from sim.report.words import time_ms
from sim.units import MS_PER_S, counted

_DASHES: Final = ("solid", "dash", "dot", "dashdot")


def anatomy_figure(found: Sequence[Anatomy], *, dark: bool = False) -> Figure:
    """Draw the tokens that a user has seen over time, and below the passes that it takes."""
    drawn = figure(360 + 28 * len(found), dark=dark)
    kinds = Counter[str]()
    for one in found:
        dash = _DASHES[kinds[one.entry.decoding.name] % len(_DASHES)]
        kinds[one.entry.decoding.name] += 1
        drawn.add_traces([_seen(one, dash, dark=dark), *_passes(one, dark=dark)])
    height = min(0.45, 0.09 * len(found))
    drawn.update_layout(
        barmode="overlay",
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        showlegend=True,
        xaxis={
            "title": {"text": "time since the arrival (ms)"},
            "rangemode": "tozero",
            "anchor": "y2",
        },
        yaxis={
            "title": {"text": "tokens seen"},
            "domain": [height + 0.1, 1],
            "rangemode": "tozero",
        },
        yaxis2={
            "title": {"text": "passes"},
            "domain": [0, height],
            "showticklabels": False,
            "autorange": "reversed",
        },
    )
    return drawn


def _seen(one: Anatomy, dash: str, *, dark: bool) -> Figure:
    """Return the steps in which a user sees the answer."""
    import plotly.graph_objects as go

    label = one.entry.label
    return go.Scatter(
        x=[0.0, *(seen.at_s * MS_PER_S for seen in one.seen)],
        y=[0.0, *(seen.tokens for seen in one.seen)],
        name=label,
        mode="lines",
        showlegend=True,
        line={
            "shape": "hv",
            "color": style(one.entry.strategy).color(dark=dark),
            "dash": dash,
            "width": 2,
        },
        hovertemplate=f"{escape(label)}: %{{y:.0f}} tokens, %{{x:.0f}} ms<extra></extra>",
    )


def _passes(one: Anatomy, *, dark: bool) -> list[Figure]:
    """Return a bar for each stretch of passes."""
    import plotly.graph_objects as go

    label, colors = one.entry.label, palette(dark=dark)
    color = style(one.entry.strategy).color(dark=dark)
    return [
        go.Bar(
            x=[part.seconds * MS_PER_S],
            base=[part.begin_s * MS_PER_S],
            y=[label],
            orientation="h",
            yaxis="y2",
            width=0.7,
            showlegend=False,
            marker={
                "color": color if part.kind == "decode" else translucent(color, 0.35),
                "line": {"color": colors.background, "width": 0.5},
            },
            hovertemplate=(
                f"{escape(label)}, {part.kind}: {counted(part.passes, 'pass', 'passes')},"
                f" {time_ms(part.seconds)}<extra></extra>"
            ),
        )
        for part in one.stretches
    ]


def anatomy_html(found: Sequence[Anatomy], *, dark: bool = False) -> str:
    """Return the page; Plotly's own script is inside, so it opens without a network."""
    drawn = card(anatomy_figure(found, dark=dark), "anatomy")
    tables = "".join(_table(table) for table in anatomy_tables(found))
    return page_html(anatomy_answer(found), f"{drawn}\n{tables}", dark=dark)


def _table(table: Table) -> str:
    sides = [' class="text"' if column.align == "left" else "" for column in table.columns]
    head = "".join(
        f"<th{side}>{escape(column.name)}</th>"
        for side, column in zip(sides, table.columns, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{s}>{escape(cell)}</td>" for s, cell in zip(sides, row, strict=True))
        + "</tr>"
        for row in table.rows
    )
    note = f'<p class="muted">{escape(table.note)}</p>' if table.note else ""
    body = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<h2>{escape(table.title)}</h2><div class="wide">{body}</div>{note}'
