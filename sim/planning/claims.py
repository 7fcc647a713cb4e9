"""The story a benchmark tells: one deployment, measured in ways that give other answers.

Each claim is a few figures of the same machine, model and engine; only the way of measuring
differs. Words and figures are made in `report`.
"""

from dataclasses import dataclass
from typing import Any, Final

from sim.metrics.result import Metrics
from sim.planning.cold import ColdReport, cold_start
from sim.planning.decoding_claims import DecodingClaims, decoding_claims
from sim.run import run
from sim.scenario import Scenario, load_scenario
from sim.workload import ClosedLoop, Constant, Fixed, Poisson, Workload

SCENARIO: Final = "claims-8b-h100"
USERS: Final = 64
"""As many as the deployment serves at once: what a benchmark sweeps up to."""
OF_THE_BENCHMARK: Final = 0.9
"""Rate of the open loop beside it: somewhat less than the benchmark says it can do."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One way to measure the deployment; s and requests/s."""

    label: str
    metrics: Metrics

    @property
    def requests_per_s(self) -> float:
        """Finished per second."""
        return _known(self.metrics.throughput.requests_per_s)

    @property
    def inside_targets(self) -> float:
        """Share of the offered requests inside all targets."""
        return _known(self.metrics.slo.attainment)

    def ttft_s(self, statistic: str) -> float:
        """Return the mean or a percentile of TTFT, s."""
        return _known(self.metrics.latency["ttft"].value(statistic))


@dataclass(frozen=True, slots=True)
class Claims:
    """All that `docs/claims.md` says."""

    scenario: Scenario
    closed: Measured
    """The benchmark: so many users, each asks again as soon as it is answered."""
    open: Measured
    """As many requests per second, nearly, from users who do not wait for each other."""
    fixed: Measured
    """Lengths all alike, evenly spaced, at that rate."""
    spread: Measured
    """Lengths spread about the same means, arrivals still evenly spaced."""
    cold: ColdReport
    decoding: DecodingClaims
    """What is said of strategies, on a machine of its own."""


def claims() -> Claims:
    """Measure the deployment in every way."""
    scenario = load_scenario(SCENARIO)
    workload = scenario.workload
    users = ClosedLoop(users=USERS)
    closed = _measured(f"closed loop, {USERS} users", scenario, workload, arrivals=users)
    rate = round(OF_THE_BENCHMARK * closed.requests_per_s, 1)
    means = [Fixed(tokens=round(mean)) for mean in workload.mean_tokens()]
    evenly = Constant(requests_per_s=rate)
    return Claims(
        scenario=scenario,
        closed=closed,
        open=_measured(
            f"open loop, {rate:g} requests/s",
            *(scenario, workload),
            arrivals=Poisson(requests_per_s=rate),
        ),
        fixed=_measured(
            "fixed lengths", *(scenario, workload),
            arrivals=evenly, input_tokens=means[0], output_tokens=means[1],
        ),
        spread=_measured("spread lengths", scenario, workload, arrivals=evenly),
        cold=cold_start(scenario),
        decoding=decoding_claims(),
    )  # fmt: skip


def _measured(label: str, scenario: Scenario, workload: Workload, **changes: Any) -> Measured:  # noqa: ANN401
    """Run the scenario under traffic that differs in some keys."""
    changed = scenario.with_workload(workload.model_copy(update=changes))
    return Measured(label, run(changed).metrics)


def _known(value: float | None) -> float:
    """Return a figure of a claim; without it there is no claim, which is our own mistake."""
    if value is None:
        raise AssertionError("a claim rests on a figure that this run withholds")
    return value
