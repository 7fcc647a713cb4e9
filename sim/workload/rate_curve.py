"""A rate that changes over time, and the arrivals that follow it exactly."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.records import FloatArray, IntArray


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
