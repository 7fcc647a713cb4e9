"""Arrivals whose rate changes over time: one small class a kind, each a curve of rates."""

from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le, MinLen
from pydantic import BaseModel, ConfigDict, model_validator

from sim.records import FloatArray
from sim.units import counted
from sim.workload.rate_curve import RateCurve
from sim.workload.renewal import unit_times

Rate = Annotated[float, Gt(0), Le(1e6)]
RateOrNone = Annotated[float, Ge(0), Le(1e6)]
"""Requests per second, which may be 0 for a while."""
Cv = Annotated[float, Ge(0), Le(20)]
Duration = Annotated[float, Gt(0), Le(1e9)]


class Varying(BaseModel):
    """Keys and draws that all of them share."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    cv: Cv = 1.0
    """Coefficient of variation of the gaps: 1 Poisson, above burstier, 0 evenly spaced."""

    def curve(self) -> RateCurve:
        """Return the rate over time."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.curve()
        return self

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:
        """Return `count` arrival times, s; inf for those that never come (the rate fell to 0)."""
        return self.curve().times_s(unit_times(count, self.cv, stream))

    def gaps(self) -> str:
        """Return the spread of the gaps in words; empty where it is that of chance."""
        return "" if self.cv == 1 else f", gaps of CV {self.cv:g}"


class OfAMean(BaseModel):
    """Arrivals whose mean rate is a key of its own."""

    model_config = ConfigDict(defer_build=True)

    requests_per_s: Rate
    """Mean over time."""

    @property
    def mean_requests_per_s(self) -> float:
        """Mean rate over time."""
        return self.requests_per_s

    def at_rate(self, requests_per_s: float) -> Self:
        """Return the same arrivals at another mean rate."""
        return self.model_copy(update={"requests_per_s": requests_per_s})


class AboutAMean(OfAMean, Varying):
    """A course of the rate about a mean that is given."""


class Step(BaseModel):
    """A stretch of time with its rate."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    for_s: Duration
    """How long, s."""
    requests_per_s: RateOrNone


class Rates(Varying):
    """Piecewise rates: each step in turn; the last one goes on, or all are repeated."""

    kind: Literal["rates"] = "rates"
    steps: Annotated[tuple[Step, ...], MinLen(1)]
    repeat: bool = False
    """Begin again with the first step after the last one."""
    straight: bool = False
    """Go in a straight line from each step's rate to the next one's, instead of by steps."""

    def curve(self) -> RateCurve:
        """Return the rate over time."""
        rates = [step.requests_per_s for step in self.steps]
        after = [*rates[1:], rates[0] if self.repeat else rates[-1]] if self.straight else rates
        lasting_s = [step.for_s for step in self.steps]
        return RateCurve.of(lasting_s, rates, after, repeats=self.repeat)

    @property
    def mean_requests_per_s(self) -> float:
        """Mean rate over the steps."""
        return self.curve().mean_requests_per_s

    def at_rate(self, requests_per_s: float) -> Self:
        """Return the same course of rates with another mean."""
        factor = requests_per_s / self.mean_requests_per_s
        steps = tuple(
            step.model_copy(update={"requests_per_s": step.requests_per_s * factor})
            for step in self.steps
        )
        return self.model_copy(update={"steps": steps})

    def describe(self) -> str:
        """Return the process in words."""
        rates = [step.requests_per_s for step in self.steps]
        span = f"{min(rates):.3g} to {max(rates):.3g} requests/s"
        return f"rates in {counted(len(rates), 'step')}, {span}{self.gaps()}"


class Ramp(Varying):
    """A rate that goes in a straight line from one value to another, and stays there."""

    kind: Literal["ramp"] = "ramp"
    from_requests_per_s: RateOrNone
    to_requests_per_s: RateOrNone
    over_s: Duration
    """How long it takes, s."""

    def curve(self) -> RateCurve:
        """Return the rate over time."""
        ends = self.from_requests_per_s, self.to_requests_per_s
        return RateCurve.of([self.over_s], [ends[0]], [ends[1]], repeats=False)

    @property
    def mean_requests_per_s(self) -> float:
        """Mean rate over the ramp."""
        return (self.from_requests_per_s + self.to_requests_per_s) / 2

    def at_rate(self, requests_per_s: float) -> Self:
        """Return the same ramp with another mean."""
        factor = requests_per_s / self.mean_requests_per_s
        ends = {
            "from_requests_per_s": self.from_requests_per_s * factor,
            "to_requests_per_s": self.to_requests_per_s * factor,
        }
        return self.model_copy(update=ends)

    def describe(self) -> str:
        """Return the process in words."""
        ends = f"{self.from_requests_per_s:.3g} to {self.to_requests_per_s:.3g} requests/s"
        return f"ramp from {ends} in {self.over_s:g} s{self.gaps()}"


class Bursts(AboutAMean):
    """A steady rate that is a multiple of itself for a while, at regular or random times."""

    kind: Literal["bursts"] = "bursts"
    factor: Annotated[float, Gt(1), Le(1e6)]
    """Rate in a burst / rate outside."""
    every_s: Duration
    """From the beginning of a burst to that of the next one, s; on average where `random`."""
    lasting_s: Duration
    """How long each burst is, s."""
    random: bool = False
    """The times between bursts are exponential instead of equal."""

    @model_validator(mode="after")
    def _check_bursts(self) -> Self:
        if self.lasting_s >= self.every_s:
            raise ValueError(
                f"needs `lasting_s` < `every_s`, found {self.lasting_s:g} and {self.every_s:g}"
            )
        return self

    def curve(self) -> RateCurve:
        """Return the rate over time where the bursts come regularly, each at its period's end."""
        return self._curve(np.array([self.every_s - self.lasting_s]), repeats=True)

    def _curve(self, between_s: FloatArray, *, repeats: bool) -> RateCurve:
        quiet, burst = self._rates()
        lasting_s = np.column_stack([between_s, np.full(len(between_s), self.lasting_s)]).ravel()
        rates = np.tile([quiet, burst], len(between_s))
        return RateCurve.of(lasting_s, rates, rates, repeats=repeats)

    def _rates(self) -> tuple[float, float]:
        """Rate outside and inside of bursts whose mean over time is the one asked for."""
        share = self.lasting_s / self.every_s
        quiet = self.requests_per_s / (1 + (self.factor - 1) * share)
        return quiet, quiet * self.factor

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:
        """Return `count` arrival times, s; the bursts have a stream of their own."""
        bursts = stream.spawn(1)[0]
        units = unit_times(count, self.cv, stream)
        if not self.random:
            return self.curve().times_s(units)
        needed, between_s = 0, np.zeros(0)
        while True:  # until the bursts that were drawn hold all arrivals
            more = int(float(units[-1]) / (self.requests_per_s * self.every_s) * 1.1) + 16
            drawn = (self.every_s - self.lasting_s) * bursts.standard_exponential(more)
            between_s, needed = np.concatenate([between_s, drawn]), needed + more
            curve = self._curve(between_s, repeats=False)
            if curve.requests >= float(units[-1]):
                return curve.times_s(units)

    def describe(self) -> str:
        """Return the process in words."""
        when = "on average every" if self.random else "every"
        bursts = f"bursts {self.factor:g} x as fast for {self.lasting_s:g} s {when}"
        return f"{self.requests_per_s:g} requests/s with {bursts} {self.every_s:g} s{self.gaps()}"
