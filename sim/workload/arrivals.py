"""When requests arrive: one small class a kind; a new kind is a class and a name in the union."""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field

from sim.records import FloatArray

Rate = Annotated[float, Gt(0), Le(1e6)]
"""Requests per second."""


class _Arrivals(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Poisson(_Arrivals):
    """Independent users: exponential gaps (coefficient of variation 1)."""

    kind: Literal["poisson"] = "poisson"
    requests_per_s: Rate

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:
        """Return `count` arrival times, s; another rate stretches the same draws."""
        return np.cumsum(stream.standard_exponential(count)) / self.requests_per_s

    def describe(self) -> str:
        """Return the process in words."""
        return f"Poisson arrivals, {self.requests_per_s:g} requests/s"


class Constant(_Arrivals):
    """One request every 1/rate seconds, the first after one gap."""

    kind: Literal["constant"] = "constant"
    requests_per_s: Rate

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:  # noqa: ARG002
        """Return `count` arrival times, s."""
        return np.arange(1, count + 1, dtype=np.float64) / self.requests_per_s

    def describe(self) -> str:
        """Return the process in words."""
        return f"evenly spaced arrivals, {self.requests_per_s:g} requests/s"


class Gamma(_Arrivals):
    """Independent gamma gaps: burstier than Poisson where `cv` > 1, smoother where `cv` < 1."""

    kind: Literal["gamma"] = "gamma"
    requests_per_s: Rate
    cv: Annotated[float, Gt(0), Le(20)]
    """Coefficient of variation of the gaps: standard deviation / mean."""

    def times_s(self, count: int, stream: np.random.Generator) -> FloatArray:
        """Return `count` arrival times, s; shape 1/cv², scale cv²/rate."""
        shape = self.cv**-2
        return np.cumsum(stream.standard_gamma(shape, count)) / (shape * self.requests_per_s)

    def describe(self) -> str:
        """Return the process in words."""
        return f"gamma arrivals (CV {self.cv:g}), {self.requests_per_s:g} requests/s"


class ClosedLoop(_Arrivals):
    """A fixed number of users with one request in flight each: how serving is benchmarked."""

    kind: Literal["closed_loop"] = "closed_loop"
    users: Annotated[int, Ge(1), Le(1_000_000)]
    think_s: Annotated[float, Ge(0), Le(86_400)] = 0.0
    """Pause between an answer and the user's next request, s."""

    def describe(self) -> str:
        """Return the process in words."""
        pause = f" who pause {self.think_s:g} s" if self.think_s else ""
        return f"closed loop of {self.users:,} users{pause}"


class Trace(_Arrivals):
    """Recorded requests replayed: arrival times and both lengths come from the file."""

    kind: Literal["trace"] = "trace"
    path: Path
    """CSV with the columns `arrival_s,input_tokens,output_tokens` or those of the Azure traces."""
    rate_scale: Annotated[float, Gt(0), Le(1e6)] = 1.0
    """2 makes the requests arrive twice as fast."""
    max_requests: Annotated[int, Ge(1)] | None = None
    """Replay the first so many rows only."""

    def describe(self) -> str:
        """Return the process in words."""
        speed = f" at {self.rate_scale:g} x its rate" if self.rate_scale != 1 else ""
        return f"trace {self.path.name}{speed}"


OpenLoop = Poisson | Constant | Gamma
"""Synthetic arrivals that do not wait for answers."""
Arrivals = Annotated[OpenLoop | ClosedLoop | Trace, Field(discriminator="kind")]
