"""A rate that changes over time, and the arrivals that follow it exactly."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from math import inf, isinf
from typing import Final, NamedTuple

import numpy as np

from sim.records import FloatArray, IntArray

_MOST_PIECES: Final = 100_000
"""Pieces that are looked at for the worst stretch: enough for weeks."""
_SAME: Final = 1e-9
"""Times as far apart as rounding are one."""


class Stretch(NamedTuple):
    """A time in which a rate lies above another one."""

    from_s: float
    to_s: float
    peak_requests_per_s: float
    excess: float
    """Mean number of arrivals beyond those of the other rate."""


@dataclass(frozen=True, slots=True)
class RateCurve:
    """Requests per second over time, in pieces; in each the rate goes in a straight line.

    Piece i lasts `lasting_s[i]` and goes from `left[i]` to `right[i]`; the next may start
    elsewhere. After the last piece the curve begins again where it `repeats`, else its last rate
    goes on.
    """

    lasting_s: FloatArray
    left: FloatArray
    right: FloatArray
    repeats: bool

    @classmethod
    def of(
        cls,
        lasting_s: Sequence[float] | FloatArray,
        left: Sequence[float] | FloatArray,
        right: Sequence[float] | FloatArray,
        *,
        repeats: bool,
    ) -> "RateCurve":
        """Return a curve of plain numbers; `ValueError` where its rate is 0 throughout."""
        lasting, before, after = (
            np.asarray(part, np.float64) for part in (lasting_s, left, right)
        )
        curve = cls(lasting, before, after, repeats)
        if curve.requests == 0:
            raise ValueError("has no rate above 0, so nothing ever arrives")
        return curve

    @property
    def _masses(self) -> FloatArray:
        """Mean number of arrivals in each piece: a trapezium."""
        return self.lasting_s * (self.left + self.right) / 2

    @property
    def requests(self) -> float:
        """Mean number of arrivals over the pieces."""
        return float(self._masses.sum())

    @property
    def period_s(self) -> float:
        """Length of all pieces, s."""
        return float(self.lasting_s.sum())

    @property
    def mean_requests_per_s(self) -> float:
        """Mean rate over the pieces."""
        return self.requests / float(self.lasting_s.sum())

    def times_s(self, unit_times: FloatArray) -> FloatArray:
        """Return when the cumulative rate reaches each of the rising `unit_times`; inf = never.

        Arrivals at unit rate, mapped through the inverse of the cumulative rate, are arrivals at
        this rate: exact for a Poisson process (Çinlar, 1975), and the usual meaning of a renewal
        process whose rate varies (Gerhardt and Nelson, 2009). Times of rate 0 are passed over.
        """
        reached = np.concatenate([[0.0], np.cumsum(self._masses)])
        total, period_s = reached[-1], float(self.lasting_s.sum())
        rounds = np.maximum(np.ceil(unit_times / total) - 1, 0) if self.repeats else 0.0
        rest = unit_times - rounds * total
        beyond = np.maximum(rest - total, 0.0)  # rounding alone where the curve repeats
        rest = np.clip(rest, 0.0, total)
        # the piece that ends with the arrival, so that none falls behind a time of rate 0
        first = int(np.argmax(self._masses > 0))
        piece = np.maximum(np.searchsorted(reached, rest, side="left") - 1, first)
        starts_s = np.concatenate([[0.0], np.cumsum(self.lasting_s)])
        times_s = (
            rounds * period_s + starts_s[piece] + self._inside_s(piece, rest - reached[piece])
        )
        if not self.repeats:
            times_s = times_s + _at_rate(beyond, float(self.right[-1]))
        return np.asarray(
            np.maximum.accumulate(times_s)
        )  # across an edge rounding could turn back

    def worst_above(self, requests_per_s: float, until_s: float) -> Stretch | None:
        """Return the stretch until then in which most arrive beyond a rate; `None`: never above.

        >>> curve = RateCurve.of([60, 60], [2, 10], [2, 10], repeats=False)
        >>> curve.worst_above(4, until_s=120)
        Stretch(from_s=60.0, to_s=120.0, peak_requests_per_s=10.0, excess=360.0)
        """
        worst, last = None, None
        for start_s, length_s, left, right in self._pieces(until_s):
            if max(left, right) <= requests_per_s:
                continue
            slope = (right - left) / length_s
            crossing_s = (requests_per_s - left) / slope if slope else 0.0
            begin_s = crossing_s if left < requests_per_s else 0.0
            end_s = crossing_s if right < requests_per_s else length_s
            ends = max(left, requests_per_s), max(right, requests_per_s)
            excess = (end_s - begin_s) * (sum(ends) / 2 - requests_per_s)
            found = Stretch(start_s + begin_s, start_s + end_s, max(left, right), excess)
            if last is not None and abs(last.to_s - found.from_s) <= _SAME * found.from_s:
                peak = max(last.peak_requests_per_s, found.peak_requests_per_s)
                found = Stretch(last.from_s, found.to_s, peak, last.excess + excess)
            last = found
            worst = found if worst is None or found.excess > worst.excess else worst
        return worst

    def _pieces(self, until_s: float) -> Iterator[tuple[float, float, float, float]]:
        """Yield start and length [s] and both rates of the pieces until then; the last is cut."""
        whole = list(zip(self.lasting_s.tolist(), self.left.tolist(), self.right.tolist(),
                         strict=True))  # fmt: skip
        after = whole if self.repeats else [(inf, whole[-1][2], whole[-1][2])]
        start_s = 0.0
        for number, (length_s, left, right) in enumerate(chain(whole, cycle(after))):
            rest_s = until_s - start_s
            if rest_s <= 0 or number >= _MOST_PIECES:
                return
            if length_s > rest_s:
                slope = 0.0 if isinf(length_s) else (right - left) / length_s
                length_s, right = rest_s, left + slope * rest_s  # noqa: PLW2901  # cut
            if length_s > 0:
                yield start_s, length_s, left, right
            start_s += length_s

    def _inside_s(self, piece: IntArray, mass: FloatArray) -> FloatArray:
        """Return the time into a piece at which its cumulative rate is `mass`.

        That is the root of slope t^2 / 2 + left t = mass, in the form that does not cancel.
        """
        left = self.left[piece]
        slope = (self.right[piece] - left) / self.lasting_s[piece]
        speed = left + np.sqrt(np.maximum(left * left + 2 * slope * mass, 0.0))
        moving = speed > 0
        time_s = np.where(moving, 2 * mass / np.where(moving, speed, 1.0), 0.0)
        return np.asarray(np.minimum(time_s, self.lasting_s[piece]))


def _at_rate(mass: FloatArray, requests_per_s: float) -> FloatArray:
    """Return how long a rate takes for a number of arrivals; inf where it is 0."""
    if requests_per_s > 0:
        return mass / requests_per_s
    return np.where(mass > 0, np.inf, 0.0)
