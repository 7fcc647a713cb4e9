"""Throughput per GPU over the speed that each user gets: up and to the right is better."""

from collections.abc import Sequence
from math import log10
from typing import Final, Literal

from sim.planning import Frontier, Point
from sim.report.figures.frontier_view import (
    WIDTH_PX,
    Scale,
    View,
    tempting,
    usd_per_gpu_second,
    view_of,
    visible,
)
from sim.report.figures.labels import Spot, place_names
from sim.report.figures.palette import palette, style
from sim.report.figures.template import Figure, figure
from sim.report.words import significant, time_ms, usd
from sim.units import MEGA, counted

Vertical = Literal["gpu", "usd"]

_CHARACTER_PX: Final = 7.6
_SAMPLES: Final = 40
"""Places of a line that its name and those of others look at: one every 10 px or so."""
_STEPS: Final = (1, 2, 5)


def frontier_figure(
    frontier: Frontier,
    *,
    target: float | None = None,
    vertical: Vertical = "gpu",
    dark: bool = False,
    height_px: int = 480,
) -> Figure:
    """Draw what each strategy can do, through the real configurations that were simulated.

    Solid: the best at each user speed. Dotted: slower users gain nothing more. Open markers would
    lie above the line but miss a target. `target`: the user speed that is needed, tokens/s.
    `vertical` "usd" draws USD per million output tokens, cheaper upwards; it needs a price.
    `customdata` of a marker is its place in `frontier.points`.
    """
    price = usd_per_gpu_second(frontier)
    scale = Scale(price if vertical == "usd" else None)
    view = view_of(frontier, scale, target, height_px)
    drawn = figure(height_px, dark=dark)
    if view is None:
        return drawn
    for item in frontier.entries:
        look = style(item.strategy)
        color = look.color(dark=dark)
        line = frontier.best[item.strategy].line()
        if line:
            _add_line(drawn, line, scale, view, color)
        _add_markers(drawn, frontier, item.strategy, scale, dark=dark)
    _add_names(drawn, frontier, scale, view, target=target, dark=dark)
    _add_target(drawn, target, dark=dark)
    if any(tempting(point, frontier.best[point.strategy]) for point in frontier.points):
        _explain_open_markers(drawn, dark=dark)
    _set_axes(drawn, view, scale)
    return drawn


def _add_line(drawn: Figure, line: Sequence[Spot], scale: Scale, view: View, color: str) -> None:
    (slow, most), *_ = line
    for spots, look in (
        ([(view.left, most), (slow, most)], {"color": color, "width": 1.5, "dash": "dot"}),
        (line, {"color": color, "width": 2.2}),
    ):
        drawn.add_scatter(
            x=[speed for speed, _ in spots],
            y=[scale.value(value) for _, value in spots],
            mode="lines",
            line=look,
            hoverinfo="skip",
        )


def _add_markers(
    drawn: Figure, frontier: Frontier, strategy: str, scale: Scale, *, dark: bool
) -> None:
    """Mark the points on the line, faintly those below it, and open those that miss a target."""
    look, best = style(strategy), frontier.best[strategy]
    mine = [point for point in frontier.points if point.strategy == strategy and visible(point)]
    on, below = (
        [point for point in mine if point.counts and best.holds(point) == holds]
        for holds in (True, False)
    )
    for points, symbol, size_px, opacity in (
        (below, look.symbol, 5, 0.35),
        ([point for point in mine if tempting(point, best)], f"{look.symbol}-open", 7, 0.6),
        (on, look.symbol, 8, 1.0),
    ):
        drawn.add_scatter(
            x=[point.user_tokens_per_s for point in points],
            y=[scale.value(point.output_tokens_per_s_per_gpu or 0.0) for point in points],
            mode="markers",
            marker={
                "color": look.color(dark=dark),
                "symbol": symbol,
                "size": size_px,
                "opacity": opacity,
            },
            text=[_hover(point, frontier.label(strategy)) for point in points],
            hovertemplate="%{text}<extra></extra>",
            customdata=[frontier.points.index(point) for point in points],
        )


def _hover(point: Point, label: str) -> str:
    load = counted(point.users, "user") if point.users else "trace"
    lines = [
        f"<b>{label}</b> · TP{point.tensor_parallel} × {point.replicas} · {load}",
        f"{significant(point.user_tokens_per_s or 0.0)} tokens/s per user",
        f"{significant(point.output_tokens_per_s_per_gpu or 0.0)} tokens/s per GPU",
    ]
    if point.output_tokens_per_usd:
        lines.append(f"{usd(MEGA / point.output_tokens_per_usd)} per 1M output tokens")
    if point.requests_per_s:
        lines.append(f"{significant(point.requests_per_s)} requests/s")
    if point.ttft_p99_s is not None:
        lines.append(f"TTFT p99 {time_ms(point.ttft_p99_s)}")
    if point.note:
        lines.append(point.note)
    return "<br>".join(lines)


def _add_names(
    drawn: Figure,
    frontier: Frontier,
    scale: Scale,
    view: View,
    *,
    target: float | None,
    dark: bool,
) -> None:
    """Name each line beside it."""
    named = [item for item in frontier.entries if frontier.best[item.strategy].curves]
    texts = [item.label + (" (what-if)" if item.what_if else "") for item in named]
    lines = [_drawn_spots(frontier.best[item.strategy].line(), scale, view) for item in named]
    obstacles = [
        view.spot(
            point.user_tokens_per_s or 0.0, scale.axis(point.output_tokens_per_s_per_gpu or 0.0)
        )
        for point in frontier.points
        if visible(point)
    ]
    if target is not None:
        across, _ = view.spot(target, scale.axis(1.0))
        obstacles += [(across, up) for up in range(0, round(view.height_px), 8)]
    widths = [_CHARACTER_PX * len(text) for text in texts]
    places = place_names(lines, widths, view.frame, obstacles)
    for item, text, box in zip(named, texts, places, strict=True):
        # Held at the side next to the frame, so that it stays inside a narrower figure.
        side = "left" if box.left < WIDTH_PX / 3 else "center"
        side = "right" if box.left + box.width > WIDTH_PX * 2 / 3 else side
        at = {"left": 0.0, "center": 0.5, "right": 1.0}[side]
        drawn.add_annotation(
            text=f"<b>{text}</b>", xref="paper", yref="paper", showarrow=False,
            x=(box.left + at * box.width) / WIDTH_PX, xanchor=side,
            y=(box.bottom + box.height / 2) / view.height_px, yanchor="middle",
            font={"size": 13, "color": style(item.strategy).color(dark=dark)},
        )  # fmt: skip


def _drawn_spots(line: Sequence[Spot], scale: Scale, view: View) -> list[Spot]:
    """Return places of a line in px, the level part to its left included."""
    slow, most = line[0]
    level = [(view.left * (slow / view.left) ** (step / 12), most) for step in range(12)]
    thinned = line[:: max(1, len(line) // _SAMPLES)]
    return [view.spot(speed, scale.axis(value)) for speed, value in [*thinned, line[-1], *level]]


def _add_target(drawn: Figure, target: float | None, *, dark: bool) -> None:
    if target is None:
        return
    colors = palette(dark=dark)
    drawn.add_shape(
        type="line", xref="x", yref="paper", x0=target, x1=target, y0=0, y1=0.95, layer="below",
        line={"color": colors.ink, "width": 1.2, "dash": "dash"},
    )  # fmt: skip
    drawn.add_annotation(
        text=f"your target: {significant(target)} tokens/s per user", x=log10(target), y=1,
        xref="x", yref="paper", showarrow=False, yanchor="top",
        font={"size": 12, "color": colors.ink},
    )  # fmt: skip


def _explain_open_markers(drawn: Figure, *, dark: bool) -> None:
    drawn.add_annotation(
        text="open markers miss a target", x=0, y=0, xref="paper", yref="paper", showarrow=False,
        xanchor="left", yanchor="bottom", xshift=6, yshift=4,
        font={"size": 12, "color": palette(dark=dark).muted},
    )  # fmt: skip


def _set_axes(drawn: Figure, view: View, scale: Scale) -> None:
    decades = range(-3, 6)
    ticks = [step * 10.0**decade for decade in decades for step in _STEPS]
    drawn.update_xaxes(
        type="log", range=[log10(view.left), log10(view.right)], tickvals=ticks,
        ticktext=[significant(tick) for tick in ticks],
        title_text="user speed (output tokens/s per user), faster →",
    )  # fmt: skip
    if scale.usd_per_gpu_second is None:
        drawn.update_yaxes(
            range=[view.bottom, view.top], tickformat=",",
            title_text="throughput (output tokens/s per GPU)",
        )  # fmt: skip
    else:
        drawn.update_yaxes(
            type="log", range=[-view.bottom, -view.top], tickvals=ticks,
            ticktext=[f"${tick:g}" for tick in ticks],
            title_text="cost (USD per million output tokens), cheaper ↑",
        )  # fmt: skip
