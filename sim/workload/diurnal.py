"""Arrivals whose rate follows the hours of the day and the days of the week."""

from typing import Annotated, Final, Literal, Self

import numpy as np
from annotated_types import Ge, Le
from pydantic import Field, model_validator

from sim.records import FloatArray
from sim.workload.rate_curve import RateCurve
from sim.workload.varying import AboutAMean

Weight = Annotated[float, Ge(0), Le(1e6)]
"""How busy an hour or a day is beside others."""
_HOUR_S, _HOURS_A_DAY, _PIECES_AN_HOUR = 3600.0, 24, 4
_SWING: Final = 0.5
_PEAK_HOUR: Final = 14.0


class Diurnal(AboutAMean):
    """A day that repeats, or a week: busy hours and quiet ones about a mean."""

    kind: Literal["diurnal"] = "diurnal"
    swing: Annotated[float, Ge(0), Le(1)] | None = None
    """The rate follows a cosine: at its peak (1 + swing) x the mean, 12 h later (1 - swing) x.
    0.5 where it is left out."""
    peak_hour: Annotated[float, Ge(0), Le(24)] | None = None
    """Hour of the day at which the cosine peaks; 14 where it is left out."""
    hours: Annotated[tuple[Weight, ...], Field(min_length=24, max_length=24)] | None = None
    """How busy each hour from midnight is beside the others, in place of the cosine; may be 0."""
    days: Annotated[tuple[Weight, ...], Field(min_length=7, max_length=7)] | None = None
    """How busy each day from Monday is beside the others; left out: all alike."""
    start_hour: Annotated[int, Ge(0), Le(167)] = 0
    """Hour at which the run begins, after midnight (with `days`: after Monday's)."""

    @model_validator(mode="after")
    def _check_shape(self) -> Self:
        given = [name for name in ("swing", "peak_hour") if getattr(self, name) is not None]
        if self.hours is not None and given:
            raise ValueError(f"has `hours`, which stand in place of `{given[0]}`: remove one")
        if self.days is None and self.start_hour >= _HOURS_A_DAY:
            raise ValueError(f"needs `days` for a `start_hour` of {self.start_hour}")
        return self

    def curve(self) -> RateCurve:
        """Return the rate over time, from `start_hour` on."""
        left, right = self._day()
        days = np.array([1.0] if self.days is None else self.days)
        begun = -self.start_hour * len(left) // _HOURS_A_DAY
        ends = [np.roll(np.outer(days, part).ravel(), begun) for part in (left, right)]
        lasting_s = np.full(len(ends[0]), _HOUR_S * _HOURS_A_DAY / len(left))
        shape = RateCurve.of(lasting_s, *ends, repeats=True)
        factor = self.requests_per_s / shape.mean_requests_per_s
        return RateCurve.of(lasting_s, ends[0] * factor, ends[1] * factor, repeats=True)

    def _day(self) -> tuple[FloatArray, FloatArray]:
        """Return the relative rate at the beginning and end of each piece of a day."""
        if self.hours is not None:
            return np.array(self.hours), np.array(self.hours)
        swing = _SWING if self.swing is None else self.swing
        peak = _PEAK_HOUR if self.peak_hour is None else self.peak_hour
        hours = np.arange(_HOURS_A_DAY * _PIECES_AN_HOUR) / _PIECES_AN_HOUR
        values = 1 + swing * np.cos(2 * np.pi * (hours - peak) / _HOURS_A_DAY)
        edges = np.maximum(values, 0.0)  # a swing of 1 touches 0, and rounding crosses it
        return edges, np.roll(edges, -1)

    def describe(self) -> str:
        """Return the process in words."""
        cycle = "day" if self.days is None else "week"
        curve = self.curve()
        peak = max(curve.left.max(), curve.right.max())
        return f"{self.requests_per_s:.3g} requests/s over a {cycle}, peak {peak:.3g}{self.gaps()}"
