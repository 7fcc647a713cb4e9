"""What a drawing of a frontier shows: its range, and its vertical scale."""

from dataclasses import dataclass
from math import log10
from typing import Final

from sim.planning import Best, Frontier, Point
from sim.report.figures.labels import Box, Spot
from sim.units import MEGA

WIDTH_PX: Final = 700
"""Usual width of the plot area, by which names are placed."""
_ABOVE: Final = 1.12
"""Room above the highest point, for the words at the target."""
_AXIS_PX: Final = 56
"""Height that the labels of the horizontal axis take."""
_ASIDE: Final = 1.35


@dataclass(frozen=True, slots=True)
class Scale:
    """Tokens/s per GPU as they are, or as USD per million tokens at a price."""

    usd_per_gpu_second: float | None

    def value(self, tokens_per_s: float) -> float:
        """Return the height of a point, in the axis's own unit."""
        if self.usd_per_gpu_second is None:
            return tokens_per_s
        return self.usd_per_gpu_second / tokens_per_s * MEGA

    def axis(self, tokens_per_s: float) -> float:
        """Return the height on the drawn axis, growing upwards."""
        value = self.value(tokens_per_s)
        return value if self.usd_per_gpu_second is None else -log10(value)


def usd_per_gpu_second(frontier: Frontier) -> float | None:
    """Return the price that stands behind tokens per USD; `None` without one."""
    for point in frontier.points:
        if point.output_tokens_per_usd and point.output_tokens_per_s_per_gpu:
            return point.output_tokens_per_s_per_gpu / point.output_tokens_per_usd
    return None


@dataclass(frozen=True, slots=True)
class View:
    """The visible range; y is log10 for dollars."""

    left: float
    right: float
    bottom: float
    top: float
    height_px: float

    @property
    def frame(self) -> Box:
        """The plot area, px."""
        return Box(0, 0, WIDTH_PX, self.height_px)

    def spot(self, speed: float, value: float) -> Spot:
        """Return where a point falls on a figure of the usual width, px."""
        across = (log10(speed) - log10(self.left)) / (log10(self.right) - log10(self.left))
        return across * WIDTH_PX, (value - self.bottom) / (self.top - self.bottom) * self.height_px


def visible(point: Point) -> bool:
    """Tell whether a point has a place in the drawing."""
    return bool(point.user_tokens_per_s and point.output_tokens_per_s_per_gpu)


def tempting(point: Point, best: Best) -> bool:
    """Tell whether a point that does not count would lie above the best curve if it did."""
    if point.counts or not visible(point):
        return False
    there = best.at(point.user_tokens_per_s or 0.0)
    return there is None or (point.output_tokens_per_s_per_gpu or 0.0) > there


def view_of(frontier: Frontier, scale: Scale, target: float | None, height_px: int) -> View | None:
    """Return the range of all that counts; `None` where nothing can be drawn."""
    shown = [point for point in frontier.points if visible(point)]
    counted = [point for point in shown if point.counts] or shown
    if not shown:
        return None
    # What misses a target may trail off to the left: a little of it is enough.
    speeds = [point.user_tokens_per_s or 0.0 for point in counted]
    if target is not None:
        speeds.append(target)
    heights = [scale.axis(point.output_tokens_per_s_per_gpu or 0.0) for point in shown]
    if scale.usd_per_gpu_second is None:
        bottom, top = 0.0, max(heights) * _ABOVE
    else:
        bottom, top = min(heights) - 0.1, max(heights) + 0.15
    return View(min(speeds) / _ASIDE, max(speeds) * _ASIDE, bottom, top, height_px - _AXIS_PX)
