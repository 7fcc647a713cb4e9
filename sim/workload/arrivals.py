"""When requests arrive: one small class a kind; a new kind is a class and a name in the union."""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field

from sim.records import FloatArray
from sim.units import counted
from sim.workload.diurnal import Diurnal
from sim.workload.thinking import Thinking
from sim.workload.traces import CLOCK_S, read_trace
from sim.workload.varying import Bursts, OfAMean, Ramp, Rates
from sim.workload.windows import Windows


class _Arrivals(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class _Steady(OfAMean, _Arrivals):
    """Arrivals of one rate for ever."""


class Poisson(_Steady):
    """Independent users: exponential gaps (coefficient of variation 1)."""

    kind: Literal["poisson"] = "poisson"

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:
        """Return `count` arrival times, s; another rate stretches the same draws."""
        return np.cumsum(stream.standard_exponential(count)) / self.requests_per_s

    def describe(self) -> str:
        """Return the process in words."""
        return f"Poisson arrivals, {self.requests_per_s:g} requests/s"


class Constant(_Steady):
    """One request every 1/rate seconds, the first after one gap."""

    kind: Literal["constant"] = "constant"

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """Return `count` arrival times, s."""
        return np.arange(1, count + 1, dtype=np.float64) / self.requests_per_s

    def describe(self) -> str:
        """Return the process in words."""
        return f"evenly spaced arrivals, {self.requests_per_s:g} requests/s"


class Gamma(_Steady):
    """Independent gamma gaps: burstier than Poisson where `cv` > 1, smoother where `cv` < 1."""

    kind: Literal["gamma"] = "gamma"
    cv: Annotated[float, Gt(0), Le(20)]
    """Coefficient of variation of the gaps: standard deviation / mean."""

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:
        """Return `count` arrival times, s; shape 1/cv², scale cv²/rate."""
        shape = self.cv**-2
        return np.cumsum(stream.standard_gamma(shape, count)) / (shape * self.requests_per_s)

    def describe(self) -> str:
        """Return the process in words."""
        return f"gamma arrivals (CV {self.cv:g}), {self.requests_per_s:g} requests/s"


class ClosedLoop(Thinking):
    """A fixed number of users with one request in flight each: how serving is benchmarked."""

    kind: Literal["closed_loop"] = "closed_loop"
    users: Annotated[int, Ge(1), Le(1_000_000)]

    def describe(self) -> str:
        """Return the process in words."""
        pause = f" who {self.thinking()}" if self.think_s else ""
        return f"closed loop of {counted(self.users, 'user')}{pause}"


class Trace(_Arrivals):
    """Recorded requests replayed: arrival times and both lengths come from the file."""

    kind: Literal["trace"] = "trace"
    path: Path
    """CSV with the columns `arrival_s,input_tokens,output_tokens` and perhaps `class`, or those of
    the Azure traces; or JSON lines of Mooncake: `timestamp` in ms, `input_length`,
    `output_length`, `hash_ids`.
    """
    rate_scale: Annotated[float, Gt(0), Le(1e6)] = 1.0
    """2 makes the requests arrive twice as fast."""
    max_requests: Annotated[int, Ge(1)] | None = None
    """Replay the first so many rows only."""

    def cautions(self) -> tuple[str, ...]:
        """Return what a reader of the numbers must know of the times."""
        began_s = read_trace(self.path.expanduser()).began_s
        if began_s <= CLOCK_S:
            return ()
        said = (
            f"times of the trace are those of a clock (`arrival_s` {began_s:.0f} first): they are"
            " taken from its first arrival on"
        )
        return (said,)

    def describe(self) -> str:
        """Return the process in words."""
        speed = f" at {self.rate_scale:g} x its rate" if self.rate_scale != 1 else ""
        return f"trace {self.path.name}{speed}"


Varying = Rates | Ramp | Bursts | Diurnal | Windows
"""Synthetic arrivals whose rate changes over time."""
OpenLoop = Poisson | Constant | Gamma | Varying
"""Synthetic arrivals that do not wait for answers."""
Arrivals = Annotated[OpenLoop | ClosedLoop | Trace, Field(discriminator="kind")]
