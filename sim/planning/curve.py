"""From points to a curve: what a strategy can do at a user speed, or faster.

Along load, one configuration is a continuous curve, so between its points it is interpolated: two
grids of loads on the same curve must not look like two curves that cross. Between configurations
(tensor parallelism) nothing lies, so there the better one is taken.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import exp, log
from operator import attrgetter

from sim.planning.point import Point


@dataclass(frozen=True, slots=True)
class Curve:
    """The best of one configuration: speed rises, throughput falls strictly."""

    tensor_parallel: int
    points: tuple[Point, ...]
    """Only those that no other one beats on both counts, the slowest users first."""

    @property
    def user_tokens_per_s(self) -> tuple[float, ...]:
        """Speeds of the points, tokens/s, rising."""
        return tuple(point.user_tokens_per_s or 0.0 for point in self.points)

    @property
    def output_tokens_per_s_per_gpu(self) -> tuple[float, ...]:
        """Throughputs of the points, tokens/s, falling."""
        return tuple(point.output_tokens_per_s_per_gpu or 0.0 for point in self.points)

    @property
    def fastest(self) -> float:
        """Highest user speed that it reaches, tokens/s."""
        return self.user_tokens_per_s[-1]

    def at(self, user_tokens_per_s: float) -> float | None:
        """Return the most output tokens/s per GPU at this user speed or above.

        Straight between two points on a log-log scale; level below the slowest point, where
        taking less load than allowed serves users even faster; `None` beyond the fastest.
        """
        return _interpolate(
            self.user_tokens_per_s, self.output_tokens_per_s_per_gpu, user_tokens_per_s
        )

    def per_usd_at(self, user_tokens_per_s: float) -> float | None:
        """Return the most output tokens per USD at this user speed or above; `None`: no price."""
        values = [point.output_tokens_per_usd for point in self.points]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        return _interpolate(self.user_tokens_per_s, known, user_tokens_per_s)


@dataclass(frozen=True, slots=True)
class Best:
    """The best of a strategy over all its configurations."""

    strategy: str
    curves: tuple[Curve, ...]

    @property
    def fastest(self) -> float | None:
        """Highest user speed that it reaches, tokens/s; `None` where no point counts."""
        return max((curve.fastest for curve in self.curves), default=None)

    @property
    def slowest(self) -> float | None:
        """Speed below which it gains nothing more, tokens/s: that of its highest throughput."""
        tops = [
            (curve.output_tokens_per_s_per_gpu[0], curve.user_tokens_per_s[0])
            for curve in self.curves
        ]
        return max(tops)[1] if tops else None

    def holds(self, point: Point) -> bool:
        """Tell whether a point lies on the best curve, not below it."""
        if not point.counts or point.strategy != self.strategy:
            return False
        there = self.at(point.user_tokens_per_s or 0.0)
        return there is not None and (point.output_tokens_per_s_per_gpu or 0.0) >= there

    def at(self, user_tokens_per_s: float) -> float | None:
        """Return the most output tokens/s per GPU at this user speed or above."""
        found = [curve.at(user_tokens_per_s) for curve in self.curves]
        return max((value for value in found if value is not None), default=None)

    def per_usd_at(self, user_tokens_per_s: float) -> float | None:
        """Return the most output tokens per USD at this user speed or above."""
        found = [curve.per_usd_at(user_tokens_per_s) for curve in self.curves]
        return max((value for value in found if value is not None), default=None)

    def tensor_parallel_at(self, user_tokens_per_s: float) -> int | None:
        """Return the width that gives the most per GPU there."""
        reached = [
            (value, curve.tensor_parallel)
            for curve in self.curves
            if (value := curve.at(user_tokens_per_s)) is not None
        ]
        return max(reached, key=lambda pair: (pair[0], -pair[1]))[1] if reached else None

    def line(self) -> list[tuple[float, float]]:
        """Return (user speed, tokens/s per GPU) of the best curve, close enough to draw it.

        Corners where one configuration takes over from another lie on a fine grid.
        """
        if not self.curves or self.fastest is None or self.slowest is None:
            return []
        own = {
            speed
            for curve in self.curves
            for speed in curve.user_tokens_per_s
            if speed >= self.slowest
        }
        low, high, steps = log(self.slowest), log(self.fastest), 240
        grid = {exp(low + (high - low) * step / steps) for step in range(1, steps)}
        speeds = sorted(own | grid) if self.fastest > self.slowest else sorted(own)
        # A drop at the end of a curve is a jump: just beyond it the next best one counts.
        speeds = sorted({*speeds, *(curve.fastest * (1 + 1e-9) for curve in self.curves)})
        values = [(speed, self.at(speed)) for speed in speeds]
        return [(speed, value) for speed, value in values if value is not None]


def best_of(strategy: str, points: Iterable[Point]) -> Best:
    """Return the best of a strategy's points that count."""
    mine = [point for point in points if point.strategy == strategy and point.counts]
    width = attrgetter("tensor_parallel")
    curves = [
        Curve(tensor_parallel, _undominated(list(group)))
        for tensor_parallel, group in groupby(sorted(mine, key=width), key=width)
    ]
    return Best(strategy, tuple(curves))


def _undominated(points: Sequence[Point]) -> tuple[Point, ...]:
    """Keep the points that no other one beats or equals on both counts, the slowest first."""
    kept: list[Point] = []
    most = 0.0
    fastest_first = sorted(
        points,
        key=lambda point: (
            -(point.user_tokens_per_s or 0.0),
            -(point.output_tokens_per_s_per_gpu or 0.0),
        ),
    )
    for point in fastest_first:
        throughput = point.output_tokens_per_s_per_gpu or 0.0
        if throughput > most:
            kept.append(point)
            most = throughput
    return tuple(reversed(kept))


def _interpolate(speeds: Sequence[float], values: Sequence[float], speed: float) -> float | None:
    if speed > speeds[-1]:
        return None
    if speed <= speeds[0]:
        return values[0]
    above = bisect_left(speeds, speed)
    if speed == speeds[above]:
        return values[above]  # a point of the sweep, free of rounding
    slow, fast = speeds[above - 1], speeds[above]
    most, least = values[above - 1], values[above]
    share = log(speed / slow) / log(fast / slow)
    return most * exp(share * log(least / most))
