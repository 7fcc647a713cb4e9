"""Service-level objective: what the user asks of latency (scenario key `slo`)."""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field

from sim.records import FloatArray
from sim.units import MS_PER_S

QUANTITIES: Final = ("ttft", "tpot", "max_gap", "ttlt")
"""Latencies that can carry a target, as they stand in the names of the targets."""
PERCENTILES: Final = (0.5, 0.9, 0.99)

Milliseconds = Annotated[float, Gt(0), Field(allow_inf_nan=False)]
Target = Milliseconds | None


class Targets(BaseModel):
    """Targets per request, and targets on percentiles over requests; `None` asks nothing.

    TTFT and TTLT include the request pipeline. A request without a TPOT or a gap (one token, or
    everything in one chunk) cannot miss the target on it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    ttft_ms: Target = None
    tpot_ms: Target = None
    max_gap_ms: Target = None
    ttlt_ms: Target = None
    attainment: Annotated[float, Ge(0), Le(1)] = 0.99
    """Share of the offered requests that must meet every target per request."""

    ttft_p50_ms: Target = None
    ttft_p90_ms: Target = None
    ttft_p99_ms: Target = None
    tpot_p50_ms: Target = None
    tpot_p90_ms: Target = None
    tpot_p99_ms: Target = None
    max_gap_p50_ms: Target = None
    max_gap_p90_ms: Target = None
    max_gap_p99_ms: Target = None
    ttlt_p50_ms: Target = None
    ttlt_p90_ms: Target = None
    ttlt_p99_ms: Target = None

    def per_request_s(self) -> dict[str, float]:
        """Return the limits that each request must keep: quantity -> s."""
        limits = {name: getattr(self, f"{name}_ms") for name in QUANTITIES}
        return {name: limit / MS_PER_S for name, limit in limits.items() if limit is not None}

    def on_percentiles_s(self) -> dict[str, float]:
        """Return the limits on percentiles: `ttft_p99` and the like -> s."""
        names = [f"{name}_p{round(p * 100)}" for name in QUANTITIES for p in PERCENTILES]
        limits = {name: getattr(self, f"{name}_ms") for name in names}
        return {name: limit / MS_PER_S for name, limit in limits.items() if limit is not None}

    @property
    def ask_anything(self) -> bool:
        """Whether there is any target."""
        return bool(self.per_request_s() or self.on_percentiles_s())


class Slo(Targets):
    """What is asked of all requests, and of classes that have targets of their own."""

    classes: dict[str, Targets] | None = None
    """Targets by class of the workload; all of them stand in place of those for the others."""

    def of(self, name: str) -> Targets:
        """Return the targets of a class: its own, or those of all."""
        return (self.classes or {}).get(name, self)

    def limits_s(self, class_names: Sequence[str]) -> dict[str, FloatArray]:
        """Return the limits that each request must keep, by class: quantity -> s (inf: none)."""
        by_class = [self.of(name).per_request_s() for name in class_names]
        asked = [name for name in QUANTITIES if any(name in limits for limits in by_class)]
        return {
            name: np.array([limits.get(name, np.inf) for limits in by_class]) for name in asked
        }
