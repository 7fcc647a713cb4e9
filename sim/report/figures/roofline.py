"""The roofline: what each operation of a pass reaches, and what holds it back.

Williams, Waterman and Patterson 2009: achieved FLOP/s over arithmetic intensity (FLOP per byte).
"""

from collections.abc import Mapping, Sequence
from math import floor, log10, sqrt
from typing import Final

from sim.cost.operation import Operation
from sim.hardware import FittedProfile, GpuProfile
from sim.precision import Precision
from sim.report.figures.labels import spread
from sim.report.figures.palette import Palette, palette, style
from sim.report.figures.roof import Roof, roof_of
from sim.report.figures.template import Figure, figure
from sim.report.words import percent, ratio, significant, time_ms
from sim.units import TERA

_HEIGHT_PX: Final = 330
_PLOT_PX: Final = 268
"""Height of the plot area: what axis labels and margins leave."""
_NAMES_PX: Final = 136
"""Width of the column of names at the right."""
_LINE_PX: Final = 18
_SMALLEST_DOT_PX: Final = 8


def roofline_figure(
    gpu: GpuProfile,
    fitted: FittedProfile,
    operations: Sequence[Operation],
    *,
    precision: Precision = "bf16",
    strategy: str = "autoregressive",
    baseline: Sequence[Operation] = (),
    ridge_tokens_per_pass: int | None = None,
    dark: bool = False,
) -> Figure:
    """Draw the operations of a pass (`ForwardPass.operations`) under the roofs of one GPU.

    `precision` is that of the products (`ForwardPass.compute_precision`). The size of a marker
    shows the share of the pass. `baseline`: the same pass decoded one token at a time, in grey.
    """
    colors, roof = palette(dark=dark), roof_of(gpu, fitted, precision)
    shown = [operation for operation in operations if operation.flop and operation.bytes_moved]
    before = {operation.name: operation for operation in baseline if operation.flop}
    left, right = _range([*map(_intensity, [*shown, *before.values()]), roof.ridge_flop_per_byte])
    lowest = min([*map(_flop_per_s, [*shown, *before.values()]), roof.fitted(left)])
    bottom, top = log10(lowest / TERA) - 0.35, log10(roof.peak_flop_per_s / TERA) + 0.25
    drawn = figure(_HEIGHT_PX, dark=dark)
    _add_roofs(drawn, roof, (left, right), colors)
    _add_operations(drawn, shown, before, operations, strategy=strategy, dark=dark)
    view = (log10(left), log10(right), bottom, top)
    named = _names(drawn, shown, operations, view, colors)
    _add_ridge(drawn, roof, ridge_tokens_per_pass, view, colors)
    _add_roof_names(drawn, roof, fitted, colors, free_px=named)
    drawn.update_xaxes(
        type="log", range=[log10(left), log10(right)], dtick=1, tickformat=",",
        title_text="arithmetic intensity (FLOP per byte)",
    )  # fmt: skip
    drawn.update_yaxes(
        type="log", range=[bottom, top], dtick=1, tickformat=",",
        title_text="achieved (TFLOP/s per GPU)",
    )  # fmt: skip
    drawn.update_layout(margin_r=_NAMES_PX)
    return drawn


def roofline_finding(
    positions_per_pass: float, ridge_tokens_per_pass: float | None, *, unit: str = "tokens"
) -> str:
    """Return where the pass stands against the ridge, in one line of at most 52 characters."""
    count = f"{significant(positions_per_pass)} {unit} per pass"
    if ridge_tokens_per_pass is None:
        return f"{count}: always memory-bound"
    if positions_per_pass < ridge_tokens_per_pass:
        return f"{count}, {ratio(ridge_tokens_per_pass / positions_per_pass)} below the ridge"
    if positions_per_pass == ridge_tokens_per_pass:
        return f"{count}: at the ridge"
    return f"{count}, {ratio(positions_per_pass / ridge_tokens_per_pass)} above the ridge"


def _intensity(operation: Operation) -> float:
    return operation.flop / operation.bytes_moved


def _flop_per_s(operation: Operation) -> float:
    return operation.flop / operation.seconds


def _share(operation: Operation, operations: Sequence[Operation]) -> float:
    return operation.total_s / sum(other.total_s for other in operations)


def _range(intensities: Sequence[float]) -> tuple[float, float]:
    """Return whole-decade-ish ends around all that is drawn."""
    return 10 ** floor(log10(min(intensities)) - 0.1), max(intensities) * 6


def _add_roofs(drawn: Figure, roof: Roof, ends: tuple[float, float], colors: Palette) -> None:
    steps = 96
    at = [ends[0] * (ends[1] / ends[0]) ** (step / steps) for step in range(steps + 1)]
    corner = roof.peak_flop_per_s / roof.peak_bytes_per_s
    sharp = sorted([ends[0], corner, ends[1]])
    peaks = {"color": colors.muted, "dash": "dot", "width": 1.5}
    reached = {"color": colors.ink, "width": 2}
    for x, y, line in (
        (sharp, [roof.datasheet(intensity) for intensity in sharp], peaks),
        (at, [roof.fitted(intensity) for intensity in at], reached),
    ):
        drawn.add_scatter(
            x=x, y=[value / TERA for value in y], mode="lines", line=line, hoverinfo="skip"
        )


def _add_operations(
    drawn: Figure,
    shown: Sequence[Operation],
    before: Mapping[str, Operation],
    operations: Sequence[Operation],
    *,
    strategy: str,
    dark: bool,
) -> None:
    grey, look = style("autoregressive").color(dark=dark), style(strategy)
    colors = palette(dark=dark)
    for operation in shown:
        old = before.get(operation.name)
        if old is not None:
            drawn.add_scatter(
                x=[_intensity(old), _intensity(operation)],
                y=[_flop_per_s(old) / TERA, _flop_per_s(operation) / TERA],
                mode="lines+markers",
                line={"color": grey, "width": 1},
                marker={"color": grey, "size": [7, 0], "symbol": "circle"},
                hoverinfo="skip",
            )
    drawn.add_scatter(
        x=[_intensity(operation) for operation in shown],
        y=[_flop_per_s(operation) / TERA for operation in shown],
        mode="markers",
        marker={
            "color": look.color(dark=dark),
            "symbol": look.symbol,
            "opacity": 1,
            "size": [_SMALLEST_DOT_PX + 15 * sqrt(_share(o, operations)) for o in shown],
            "line": {"width": 1, "color": colors.background},
        },
        text=[
            f"<b>{o.name}</b> × {o.count}<br>{significant(_intensity(o))} FLOP/byte, "
            f"{significant(_flop_per_s(o) / TERA)} TFLOP/s<br>{time_ms(o.total_s)}, "
            f"{percent(_share(o, operations), 0)} of the pass<br>bound by {o.bound}"
            for o in shown
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _names(
    drawn: Figure,
    shown: Sequence[Operation],
    operations: Sequence[Operation],
    view: tuple[float, float, float, float],
    colors: Palette,
) -> float:
    """Write the names in a column at the right, with leaders; return the px that they take."""
    left, right, bottom, top = view
    roofs_px = 5.4 * _LINE_PX
    along = [(log10(_intensity(o)) - left) / (right - left) for o in shown]
    up = [(log10(_flop_per_s(o) / TERA) - bottom) / (top - bottom) for o in shown]
    places = spread([y * _PLOT_PX for y in up], _LINE_PX, _LINE_PX / 2, _PLOT_PX - roofs_px)
    for operation, x, y, place in zip(shown, along, up, places, strict=True):
        drawn.add_shape(
            type="line", xref="paper", yref="paper", layer="below",
            x0=x, y0=y, x1=1, y1=place / _PLOT_PX,
            line={"color": colors.axis, "width": 1},
        )  # fmt: skip
        _note(
            drawn,
            f"<b>{_short(operation.name)}</b> {percent(_share(operation, operations), 0)}",
            place / _PLOT_PX,
            colors.ink,
        )
    return max(places, default=0.0) + _LINE_PX


def _short(name: str) -> str:
    named = name.removesuffix(" projection").replace(" and ", ", ")
    return named.replace("decode attention", "attention").replace(
        "prefill attention", "prompt att."
    )


def _note(drawn: Figure, text: str, y: float, color: str) -> None:
    """Write into the column at the right."""
    drawn.add_annotation(
        text=text, xref="paper", yref="paper", x=1, y=y, showarrow=False, xanchor="left",
        xshift=4, yanchor="middle", align="left", font={"size": 12, "color": color},
    )  # fmt: skip


def _add_roof_names(
    drawn: Figure, roof: Roof, fitted: FittedProfile, colors: Palette, *, free_px: float
) -> None:
    """Name the two roofs above the names of the operations."""
    high = _PLOT_PX - 0.8 * _LINE_PX
    low = max(high - 2.4 * _LINE_PX, free_px + 0.2 * _LINE_PX)
    peak, reached = roof.peak_flop_per_s / TERA, roof.flop_per_s / TERA
    _note(drawn, f"datasheet<br>{peak:,.0f} TFLOP/s", high / _PLOT_PX, colors.muted)
    _note(drawn, f"<b>{fitted.origin}</b><br>{reached:,.0f} TFLOP/s", low / _PLOT_PX, colors.ink)


def _add_ridge(
    drawn: Figure,
    roof: Roof,
    tokens: int | None,
    view: tuple[float, float, float, float],
    colors: Palette,
) -> None:
    ridge = roof.ridge_flop_per_byte
    drawn.add_shape(
        type="line", xref="x", yref="paper", x0=ridge, x1=ridge, y0=0, y1=1, layer="below",
        line={"color": colors.muted, "width": 1, "dash": "dash"},
    )  # fmt: skip
    words = (
        "no ridge<br>for the pass"
        if tokens is None
        else f"<b>ridge</b> {tokens:,}<br>tokens per pass"
    )
    drawn.add_annotation(
        text=words, x=log10(ridge), y=view[2], xref="x", yref="y", showarrow=False,
        xanchor="right", yanchor="bottom", xshift=-4, align="right",
        font={"size": 12, "color": colors.muted},
    )  # fmt: skip
