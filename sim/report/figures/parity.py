"""Predicted against measured: on the diagonal where they agree."""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.report.figures.palette import palette, translucent
from sim.report.figures.template import Figure, figure

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")
"""One a group, in order; colour is left to strategies."""
BAND = 0.2
"""Half-width of the shaded band around the diagonal, as a fraction of the measurement."""

_WIDE = 30.0
"""Above this ratio of the ends of an axis its ticks are powers of ten."""


@dataclass(frozen=True, slots=True)
class ParityPoint:
    """One measurement beside its prediction, both in ms and above zero."""

    label: str
    group: str
    measured_ms: float
    predicted_ms: float


def parity_figure(points: Sequence[ParityPoint], *, quantity: str, dark: bool = False) -> Figure:
    """Draw measured (x) against predicted (y) on log axes, a symbol for each group."""
    import plotly.graph_objects as go

    colors = palette(dark=dark)
    drawn = figure(460, dark=dark)
    for place, group in enumerate(sorted({point.group for point in points})):
        mine = [point for point in points if point.group == group]
        drawn.add_trace(
            go.Scatter(
                name=group,
                mode="markers",
                x=[point.measured_ms for point in mine],
                y=[point.predicted_ms for point in mine],
                text=[point.label for point in mine],
                marker={
                    "symbol": SYMBOLS[place % len(SYMBOLS)],
                    "size": 8,
                    "color": translucent(colors.accent, 0.55),
                    "line": {"width": 1, "color": colors.accent},
                },
                hovertemplate=(
                    "<b>%{text}</b><br>%{y:.4g} ms predicted<br>%{x:.4g} ms measured"
                    f"<extra>{group}</extra>"
                ),
            )
        )
    drawn.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"}
    )
    drawn.update_xaxes(type="log", title_text=f"measured {quantity}, ms")
    drawn.update_yaxes(type="log", title_text=f"predicted {quantity}, ms")
    if points:
        _diagonal(drawn, points, fill=colors.grid, line=colors.axis)
    return drawn


def _diagonal(drawn: Figure, points: Sequence[ParityPoint], *, fill: str, line: str) -> None:
    """Below the points: the diagonal, and what lies within `BAND` of the measurement."""
    ends = (
        min(min(point.measured_ms, point.predicted_ms) for point in points) / 1.2,
        max(max(point.measured_ms, point.predicted_ms) for point in points) * 1.2,
    )
    low, high = ends
    corners = [
        (low, low * (1 - BAND)),
        (high, high * (1 - BAND)),
        (high, high * (1 + BAND)),
        (low, low * (1 + BAND)),
    ]
    path = "M " + " L ".join(f"{x:.6g},{y:.6g}" for x, y in corners) + " Z"
    if high > _WIDE * low:  # else ticks between the decades, which are a lone digit there
        drawn.update_xaxes(dtick=1)
        drawn.update_yaxes(dtick=1)
    drawn.add_shape(type="path", path=path, fillcolor=fill, line_width=0, layer="below")
    drawn.add_shape(
        type="line", x0=low, y0=low, x1=high, y1=high, layer="below", line={"color": line}
    )
