"""Kernels of a calibration: errors against their shape, and what they reach under the roof."""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.report.figures.palette import palette, translucent
from sim.report.figures.template import Figure, figure
from sim.units import TERA

_HEIGHT_PX = 320
BAND = 0.1
"""Half-width of the shaded band around no error, as a fraction."""


@dataclass(frozen=True, slots=True)
class KernelPoint:
    """One timed kernel beside what the fit says."""

    size: float
    """What the fit runs over first: tokens, items, bytes."""
    measured_s: float
    predicted_s: float
    flop: float
    bytes_moved: float
    held_out: bool
    """Predicted by a fit that had not seen its shape."""

    @property
    def error(self) -> float:
        """(predicted - measured) / measured."""
        return self.predicted_s / self.measured_s - 1.0


def residuals_figure(
    points: Sequence[KernelPoint], *, quantity: str, dark: bool = False
) -> Figure:
    """Draw the error of each kernel over its size: all in grey, held-out shapes in ink."""
    colors = palette(dark=dark)
    drawn = figure(_HEIGHT_PX, dark=dark)
    for name, held, color in (
        ("fitted", False, translucent(colors.muted, 0.3)),
        ("held out", True, translucent(colors.accent, 0.6)),
    ):
        mine = [point for point in points if point.held_out == held]
        drawn.add_scattergl(
            name=name,
            mode="markers",
            x=[point.size for point in mine],
            y=[point.error for point in mine],
            marker={"size": 5, "color": color},
            hovertemplate=f"{quantity} %{{x:,.4g}}<br>%{{y:+.1%}}<extra>{name}</extra>",
        )
    drawn.add_hrect(
        y0=-BAND, y1=BAND, fillcolor=colors.grid, line_width=0, layer="below", opacity=0.6
    )
    drawn.update_layout(
        showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"}
    )
    drawn.update_xaxes(type="log", title_text=quantity)
    drawn.update_yaxes(tickformat="+.0%", title_text="predicted against measured")
    return drawn


def kernel_roof_figure(
    points: Sequence[KernelPoint],
    *,
    peak_flop_per_s: float,
    bytes_per_s: float,
    dark: bool = False,
) -> Figure:
    """Draw what the kernels reach over their intensity, under the datasheet's roof."""
    colors = palette(dark=dark)
    drawn = figure(_HEIGHT_PX, dark=dark)
    intensity = [point.flop / point.bytes_moved for point in points]
    drawn.add_scattergl(
        mode="markers",
        x=intensity,
        y=[point.flop / point.measured_s / TERA for point in points],
        marker={"size": 5, "color": translucent(colors.accent, 0.45)},
        hovertemplate="%{x:,.4g} FLOP per byte<br>%{y:,.4g} TFLOP/s<extra>measured</extra>",
    )
    ridge = peak_flop_per_s / bytes_per_s
    ends = sorted({min([*intensity, ridge]), ridge, max([*intensity, ridge])})
    drawn.add_scatter(
        mode="lines",
        x=ends,
        y=[min(peak_flop_per_s, bytes_per_s * at) / TERA for at in ends],
        line={"color": colors.muted, "dash": "dot", "width": 1.5},
        hoverinfo="skip",
    )
    drawn.update_xaxes(type="log", title_text="arithmetic intensity (FLOP per byte)")
    drawn.update_yaxes(type="log", title_text="achieved (TFLOP/s)")
    return drawn
