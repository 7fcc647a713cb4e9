"""How far off predictions are, against a shape: a band around zero where they are good."""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.report.figures.palette import palette, translucent
from sim.report.figures.template import Figure, figure

BAND = 0.1
"""Half-width of the shaded band, as a fraction."""


@dataclass(frozen=True, slots=True)
class ResidualPoint:
    """One kernel: (predicted - measured) / measured, at some value of a shape."""

    label: str
    at: float
    error: float


def residual_figure(
    points: Sequence[ResidualPoint], *, quantity: str, dark: bool = False
) -> Figure:
    """Draw errors in per cent against a quantity on a log axis."""
    import plotly.graph_objects as go

    colors = palette(dark=dark)
    drawn = figure(360, dark=dark)
    drawn.add_hrect(
        y0=-100 * BAND, y1=100 * BAND, fillcolor=colors.grid, line_width=0, layer="below"
    )
    drawn.add_trace(
        go.Scatter(
            mode="markers",
            x=[point.at for point in points],
            y=[100 * point.error for point in points],
            text=[point.label for point in points],
            marker={"size": 6, "color": translucent(colors.accent, 0.5)},
            hovertemplate="<b>%{text}</b><br>%{y:+.1f} %<extra></extra>",
        )
    )
    drawn.add_hline(y=0, line={"color": colors.axis, "width": 1})
    drawn.update_xaxes(type="log", title_text=quantity)
    drawn.update_yaxes(title_text="predicted − measured, %")
    return drawn
