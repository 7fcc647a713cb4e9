"""The frontier: throughput per GPU over the speed that a user sees, one line a strategy."""

from math import log10
from typing import Final

from sim.planning import Best, Entry, Frontier, Point
from sim.report.figures.labels import spread
from sim.report.figures.palette import palette, style
from sim.report.figures.template import Figure, figure
from sim.report.figures.words import milliseconds, significant

_HEIGHT_PX: Final = 560
_PLOT_PX: Final = 498
"""Height of the plot area: what axis labels and margins leave."""
_NAMES_PX: Final = 132
_LINE_PX: Final = 18
_TICKS: Final = [digit * 10**power for power in range(-1, 5) for digit in (1, 2, 5)]
"""Plotly's own ticks of a log axis name every other one by its first digit."""


def frontier_figure(found: Frontier, *, dark: bool = False) -> Figure:
    """Draw the best of each strategy, its points inside the targets, and their names at the right.

    Up is more tokens per GPU, right is faster for each user: further out is better.
    """
    drawn = figure(_HEIGHT_PX, dark=dark)
    shown = [item for item in found.entries if found.best[item.strategy].line()]
    for item in shown:
        _add_strategy(drawn, item, found.best[item.strategy], dark=dark)
    lines = [found.best[item.strategy].line() for item in shown]
    top = 1.06 * max((value for line in lines for _, value in line), default=1.0)
    speeds = [speed for line in lines for speed, _ in line] or [1.0]
    _add_names(drawn, shown, [line[0][1] for line in lines], top, dark=dark)
    drawn.update_xaxes(
        type="log",
        range=[log10(min(speeds)) - 0.05, log10(max(speeds)) + 0.05],
        tickvals=_TICKS,
        tickformat=",",
        title_text="speed of the median user (output tokens/s)",
    )
    drawn.update_yaxes(
        range=[0, top], tickformat=",", title_text="throughput (output tokens/s per GPU)"
    )
    drawn.update_layout(margin_r=_NAMES_PX)
    return drawn


def _add_strategy(drawn: Figure, item: Entry, best: Best, *, dark: bool) -> None:
    look, line = style(item.strategy), best.line()
    points = [point for curve in best.curves for point in curve.points]
    drawn.add_scatter(
        x=[speed for speed, _ in line],
        y=[value for _, value in line],
        mode="lines",
        line={"color": look.color(dark=dark), "width": 2, "dash": look.dash},
        hoverinfo="skip",
    )
    drawn.add_scatter(
        x=[point.user_tokens_per_s for point in points],
        y=[point.output_tokens_per_s_per_gpu for point in points],
        mode="markers",
        marker={
            "color": look.color(dark=dark),
            "symbol": look.symbol,
            "size": 9,
            "line": {"width": 1, "color": palette(dark=dark).background},
        },
        text=[_hover(item, point) for point in points],
        hovertemplate="%{text}<extra></extra>",
    )


def _hover(item: Entry, point: Point) -> str:
    speed, each = point.user_tokens_per_s or 0.0, point.output_tokens_per_s_per_gpu or 0.0
    lines = [
        f"<b>{item.label}</b>, {point.replicas} × TP{point.tensor_parallel}",
        f"{significant(speed)} tokens/s per user, {significant(each)} per GPU",
    ]
    if point.users is not None:
        lines.append(f"{point.users:,} users at once")
    if point.requests_per_s is not None:
        lines.append(f"{significant(point.requests_per_s)} requests/s")
    if point.output_tokens_per_usd:
        lines.append(f"${1e6 / point.output_tokens_per_usd:.2f} per million output tokens")
    if point.ttft_p99_s is not None:
        lines.append(f"TTFT p99 {milliseconds(point.ttft_p99_s)}")
    return "<br>".join(lines)


def _add_names(
    drawn: Figure, shown: list[Entry], highest: list[float], top: float, *, dark: bool
) -> None:
    """Write each name at the right of the plot, at the height that its line reaches."""
    wanted = [value / top * _PLOT_PX for value in highest]
    for item, place in zip(
        shown, spread(wanted, _LINE_PX, _LINE_PX / 2, _PLOT_PX - _LINE_PX / 2), strict=True
    ):
        what_if = "<br>what-if" if item.what_if else ""
        drawn.add_annotation(
            text=f"<b>{item.label}</b>{what_if}", xref="paper", yref="paper", x=1,
            y=place / _PLOT_PX, showarrow=False, xanchor="left", xshift=6, yanchor="middle",
            align="left", font={"size": 13, "color": style(item.strategy).color(dark=dark)},
        )  # fmt: skip
