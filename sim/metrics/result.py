"""What `measure` returns: frozen facts in SI units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sim.metrics.intervals import Interval
from sim.metrics.summary import Summary
from sim.metrics.window import LittlesLaw, Window

RunStatus = Literal["ok", "overloaded"]


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """Requests by how they ended: offered = finished + rejected + unfinished."""

    offered: int
    finished: int
    rejected: int
    unfinished: int
    background: int
    """Simulated but not counted: warm-up and the tail that keeps up the load."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """What finishes in the window per second, background included; intervals 90 %."""

    offered_requests_per_s: float | None
    """Gaps between the counted arrivals per second, from the first to the last one."""
    requests_per_s: float | None
    input_tokens_per_s: float | None
    output_tokens_per_s: float | None
    output_tokens_per_s_per_gpu: float | None
    user_tokens_per_s: float | None
    """Median over requests of output tokens / TTLT."""
    interval_requests_per_s: Interval | None
    interval_output_tokens_per_s: Interval | None
    interval_user_tokens_per_s: Interval | None
    requests: int
    """Finished in the window."""
    input_tokens: int
    output_tokens: int
    whole: Mapping[str, Interval | None] | None = None
    """By name: intervals that hold the error of the calibration, too; `None`: not made."""


@dataclass(frozen=True, slots=True)
class SloResult:
    """How far the targets were met. Shares are of the offered requests."""

    attainment: float | None
    """Meets every target per request; rejected and unfinished count as missed."""
    interval_attainment: Interval | None
    by_target: Mapping[str, float]
    """Share that meets one target per request: `ttft` and the like."""
    on_percentiles: Mapping[str, bool | None]
    """Target on a percentile met? `None`: too few requests to say."""
    goodput_requests_per_s: float | None
    """Of the requests that finish in the window, per second, those that meet every target."""
    met: bool
    """Everything asked is met, and known to be."""
    whole_attainment: Interval | None = None
    """The interval with the error of the calibration; `None`: not made."""


@dataclass(frozen=True, slots=True)
class ClassMetrics:
    """One class of requests, where there are several."""

    name: str
    status: RunStatus
    """Overloaded: the queue of this class grows without bound, whatever the others' does."""
    requests: RequestCounts
    latency: Mapping[str, Summary]
    """As in `Metrics`, without `itl`; withheld where the class is overloaded."""
    slo: SloResult
    """By the targets of the class."""

    @property
    def starves(self) -> bool:
        """Whether the class is not served as fast as it asks."""
        return self.status == "overloaded"


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage on the way to the first token."""

    stage: str
    mean_s: float
    origin: Literal["assumed", "simulated"]


@dataclass(frozen=True, slots=True)
class Utilisation:
    """How much of the deployment was in use."""

    busy: float | None
    """Share of the window in which a replica ran a pass, averaged over replicas."""
    kv_peak: float
    """Most KV blocks ever in use on one replica, as a share of its pool."""
    cached_input: float | None = None
    """Share of the input tokens of finished requests that the prefix cache held; `None`: off."""


@dataclass(frozen=True, slots=True)
class Metrics:
    """All that is measured of one run; s and requests unless the name says otherwise."""

    status: RunStatus
    too_short: bool
    """An `ok` run whose length does not tell whether the deployment keeps up with the traffic."""
    sustainable_requests_per_s: float | None
    """What an overloaded deployment completes per second: its throughput; `None` otherwise."""
    requests: RequestCounts
    latency: Mapping[str, Summary]
    """engine_ttft, ttft, tpot, itl, max_gap, ttlt, in s."""
    throughput: Throughput
    slo: SloResult
    utilisation: Utilisation
    littles_law: LittlesLaw
    """Nothing on either side where the queue grows: there is no mean to speak of."""
    waterfall: tuple[Stage, ...]
    """Stages whose means add up to the mean TTFT; empty where that is withheld."""
    window: Window | None
    """In which throughput, busy time and cost are measured: of an overloaded run, where it is
    saturated.
    """
    warmup_requests: int
    interval_basis: str
    """What the intervals speak for, or that none were asked for."""
    notes: tuple[str, ...]
    front_end_behind: bool = False
    """Of an overloaded run: the front end falls behind, not the GPU."""
    classes: tuple[ClassMetrics, ...] = ()
    """One for each class; none where there is only one."""

    @property
    def window_s(self) -> float | None:
        """Length of the measured window, s."""
        return None if self.window is None else self.window.length_s
