"""One point of a frontier: a configuration under one load."""

from dataclasses import dataclass
from typing import Final, Literal

from sim.economics.cost import Cost
from sim.metrics.result import Metrics, SloResult
from sim.metrics.slo import Slo
from sim.planning.steady import serve_users
from sim.run import run
from sim.scenario import Scenario
from sim.units import MEGA, MS_PER_S

PointStatus = Literal["ok", "misses target", "overloaded", "does not fit"]
JUDGED: Final = ("ttft", "max_gap")
"""Latencies whose targets a point must meet. A target on the speed itself is read off the axis."""


@dataclass(frozen=True, slots=True)
class Load:
    """What is asked of one configuration, in one process or another."""

    strategy: str
    hardware: str
    scenario: Scenario
    """With the strategy and deployment of the point; `replicas` is what the point speaks for."""
    requests: int
    users_per_replica: int | None = None
    """A closed loop, or else `requests_per_s` of a trace."""
    requests_per_s: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """What a configuration gives under one load; `None` where it does not exist."""

    strategy: str
    hardware: str
    tensor_parallel: int
    replicas: int
    requests_per_s: float | None
    """Finished by all replicas; of an overloaded deployment, what it can sustain."""
    users: int | None
    """In flight on all replicas; `None` where a trace arrives at a rate."""
    user_tokens_per_s: float | None
    """Median over requests of output tokens / TTLT."""
    output_tokens_per_s_per_gpu: float | None
    output_tokens_per_usd: float | None
    """All that is paid, idle time included."""
    ttft_p99_s: float | None
    max_gap_p99_s: float | None
    status: PointStatus
    note: str = ""

    @property
    def counts(self) -> bool:
        """Whether the point may stand on a frontier."""
        return self.status == "ok" and bool(
            self.user_tokens_per_s and self.output_tokens_per_s_per_gpu
        )

    def row(self) -> dict[str, str | int | float | None]:
        """Return the point as a row of `frontier.csv`."""
        return {
            "strategy": self.strategy,
            "hardware": self.hardware,
            "tensor_parallel": self.tensor_parallel,
            "replicas": self.replicas,
            "requests_per_s": self.requests_per_s,
            "users": self.users,
            "user_tokens_per_s": self.user_tokens_per_s,
            "output_tokens_per_s_per_gpu": self.output_tokens_per_s_per_gpu,
            "output_tokens_per_usd": self.output_tokens_per_usd,
            "ttft_p99_ms": None if self.ttft_p99_s is None else self.ttft_p99_s * MS_PER_S,
            "max_gap_p99_ms": (
                None if self.max_gap_p99_s is None else self.max_gap_p99_s * MS_PER_S
            ),
            "status": self.status,
            "note": self.note,
        }


def evaluate(load: Load) -> Point:
    """Simulate one point.

    Under a closed loop the replicas are alike and served in turn, so one of them is simulated and
    stands for all; a trace is one stream of requests, so there the whole deployment is.
    """
    scenario, replicas = load.scenario, load.scenario.deployment.replicas
    if load.users_per_replica is None:
        outcome = run(_replayed(load), intervals=False)
        return _point(load, outcome.metrics, outcome.cost, stands_for=1, users=None)
    alone = scenario.with_deployment(replicas=1)
    steady = serve_users(alone, load.users_per_replica, load.requests)
    users = load.users_per_replica * replicas
    return _point(load, steady.metrics, steady.cost, stands_for=replicas, users=users)


def _replayed(load: Load) -> Scenario:
    """Return the scenario with its trace at the load's rate."""
    if load.requests_per_s is None:
        raise TypeError("a load is users or a rate")  # our mistake, not the user's
    workload = load.scenario.workload.with_rate(load.requests_per_s)
    return load.scenario.with_workload(workload)


def _point(
    load: Load, metrics: Metrics, cost: Cost | None, *, stands_for: int, users: int | None
) -> Point:
    rates, latency, deployment = metrics.throughput, metrics.latency, load.scenario.deployment
    usd = None if cost is None else cost.usd_per_million_output_tokens_all_in
    overloaded = metrics.status == "overloaded"
    missed, unknown = _judge(metrics.slo, load.scenario.slo)
    status: PointStatus = "overloaded" if overloaded else "misses target" if missed else "ok"
    note = _misses(missed, metrics.slo, load.scenario.slo)
    if unknown and not overloaded:
        note = "; ".join(filter(None, [note, f"too few requests to judge {', '.join(unknown)}"]))
    return Point(
        strategy=load.strategy,
        hardware=load.hardware,
        tensor_parallel=deployment.tensor_parallel,
        replicas=deployment.replicas,
        requests_per_s=(
            None if rates.requests_per_s is None else rates.requests_per_s * stands_for
        ),
        users=users,
        user_tokens_per_s=rates.user_tokens_per_s,
        output_tokens_per_s_per_gpu=rates.output_tokens_per_s_per_gpu,
        output_tokens_per_usd=None if usd is None else MEGA / usd,
        ttft_p99_s=latency["ttft"].p99,
        max_gap_p99_s=latency["max_gap"].p99,
        status=status,
        note=note,
    )


def _misses(missed: list[str], result: SloResult, slo: Slo) -> str:
    """Say which targets are missed, and by which share of the requests where that decides."""
    parts = [
        f"{name} kept by {share:.1%} of the requests, {slo.attainment:.1%} asked"
        if (share := result.by_target.get(name)) is not None
        else name
        for name in missed
    ]
    return f"misses {', '.join(parts)}" if parts else ""


def _judge(result: SloResult, slo: Slo) -> tuple[list[str], list[str]]:
    """Return the targets on TTFT and the longest gap that are missed, and those left open."""
    missed = [
        name
        for name, share in result.by_target.items()
        if name in JUDGED and share < slo.attainment
    ]
    unknown = []
    for name, met in result.on_percentiles.items():
        if name.rpartition("_")[0] in JUDGED:
            if met is None:
                unknown.append(name)
            elif not met:
                missed.append(name)
    return missed, unknown
