"""Measurement against queueing theory."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from sim.metrics.measure import measure
from sim.metrics.overload import judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.result import Metrics
from sim.metrics.slo import Slo
from sim.records import (
    FloatArray,
    Leaps,
    RequestRecords,
    Simulation,
    StepSeries,
    WeightedSamples,
)

pytestmark = pytest.mark.truth


def single_server(utilisation: float, requests: int, *, seed: int, constant: bool) -> Simulation:
    """Poisson arrivals to one server of mean service 1 s, by Lindley's recursion.

    finish(i) = max(arrival(i), finish(i-1)) + service(i), unrolled into a running maximum. A
    quarter more arrive as background, so that the end of the window is under load.
    """
    rng = np.random.default_rng([seed, requests])
    total = requests + requests // 4
    arrival = np.cumsum(rng.exponential(1 / utilisation, total))
    service = np.ones(total) if constant else rng.exponential(1, total)
    worked = np.cumsum(service)
    finish = worked + np.maximum.accumulate(arrival - (worked - service))
    return recorded(arrival, finish - service, finish, measured=requests)


def recorded(
    arrival: FloatArray, start: FloatArray, finish: FloatArray, *, measured: int
) -> Simulation:
    """Write a queue down as the engine would: the first token when service begins."""
    n = len(arrival)
    columns = {field.name: np.zeros(n, dtype=np.int64) for field in fields(RequestRecords)} | {
        "output_tokens": np.full(n, 2),
        "input_tokens": np.full(n, 2),
        "chunks": np.full(n, 2),
    }
    times = {"arrival_s": arrival, "admitted_s": start, "first_token_s": start}
    late = {"last_token_s": finish, "max_gap_s": finish - start}
    records = RequestRecords(**{**columns, **times, **late})
    events = np.concatenate([arrival, finish])
    order = np.argsort(events)
    change = np.where(order < n, 1, -1)
    nothing = np.zeros(0)
    whole = np.zeros(0, dtype=np.int64)
    no_leaps: dict[str, Any] = {field.name: nothing for field in fields(Leaps)}
    leaps = Leaps(**no_leaps | {"replica": whole, "passes": whole})
    return Simulation(
        records=records,
        measured=measured,
        steady_state=True,
        closed_loop=False,
        gaps=WeightedSamples(nothing, nothing),
        in_system=StepSeries(events[order], np.cumsum(change)),
        leaps=leaps,
        replicas=1,
        kv_pool_tokens=1,
        kv_peak_share=0.0,
        events=2 * n,
    )


def measured(simulation: Simulation) -> Metrics:
    return measure(simulation, slo=Slo(), pipeline=Pipeline(), gpus=1, seed=0)


@pytest.mark.parametrize(("utilisation", "requests"), [(0.3, 5000), (0.7, 20_000), (0.9, 60_000)])
@pytest.mark.parametrize("constant", [True, False], ids=["M/D/1", "M/M/1"])
def test_mean_wait_and_time_inside_follow_pollaczek_khinchine(
    utilisation: float, requests: int, constant: bool
) -> None:
    runs = [
        measured(single_server(utilisation, requests, seed=seed, constant=constant))
        for seed in range(8)
    ]
    # rho (1 + c^2) / (2 (1 - rho)) x service time, with c^2 = 0 or 1.
    wait_s = utilisation / ((2 if constant else 1) * (1 - utilisation))
    for name, theory_s in {"engine_ttft": wait_s, "ttlt": wait_s + 1}.items():
        means = [run.latency[name].mean or 0.0 for run in runs]
        standard_error = np.std(means, ddof=1) / np.sqrt(len(means))
        assert abs(np.mean(means) - theory_s) < 4 * standard_error
        assert standard_error < 0.04 * theory_s, "the test could not see a slip of 16 %"


def test_percentiles_of_m_m_1_are_those_of_an_exponential() -> None:
    runs = [measured(single_server(0.5, 20_000, seed=seed, constant=False)) for seed in range(8)]
    for name, above in {"p50": 0.5, "p90": 0.1, "p99": 0.01}.items():
        values = [getattr(run.latency["ttlt"], name) for run in runs]
        standard_error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) + 2 * np.log(above)) < 4 * standard_error


def test_both_sides_of_littles_law_agree_with_each_other_and_with_theory() -> None:
    for seed in range(5):
        law = measured(single_server(0.7, 20_000, seed=seed, constant=False)).littles_law
        assert law.lhs is not None
        # The sides differ by what hangs over the ends of the window: a few requests in 20,000.
        assert law.lhs == pytest.approx(law.rhs, rel=0.01)
        assert law.lhs == pytest.approx(0.7 / 0.3, rel=0.25)


@pytest.mark.parametrize(
    ("utilisation", "requests", "low", "high"), [(0.5, 20_000, 0, 2), (0.9, 5000, 18, 20)]
)
def test_a_p99_that_rests_on_a_few_bursts_says_so(
    utilisation: float, requests: int, low: int, high: int
) -> None:
    """At 90 % load bursts last for about 1 / (1 - sqrt(rho))^2 = 380 requests: 13 in 5,000."""
    runs = [
        measured(single_server(utilisation, requests, seed=seed, constant=False))
        for seed in range(20)
    ]
    assert low <= sum("few bursts" in " ".join(run.notes) for run in runs) <= high


def overloads(utilisation: float, requests: int, *, constant: bool, runs: int = 60) -> float:
    """Return the share of runs that are called overloaded."""
    verdicts = [
        judge(single_server(utilisation, requests, seed=seed, constant=constant)).overloaded
        for seed in range(runs)
    ]
    return float(np.mean(verdicts))


@pytest.mark.parametrize("constant", [True, False], ids=["M/D/1", "M/M/1"])
@pytest.mark.parametrize(("utilisation", "most"), [(0.5, 0.0), (0.9, 0.01), (0.95, 0.05)])
def test_heavy_but_stable_load_is_hardly_ever_called_overload(
    utilisation: float, most: float, constant: bool
) -> None:
    assert overloads(utilisation, 2000, constant=constant) <= most
    assert overloads(utilisation, 10_000, constant=constant) == 0


@pytest.mark.parametrize(
    ("utilisation", "requests", "least"),
    [(1.03, 20_000, 0.9), (1.1, 2000, 0.95), (1.1, 5000, 1.0), (1.5, 500, 0.95)],
)
def test_overload_is_found_where_the_run_is_long_enough_to_tell(
    utilisation: float, requests: int, least: float
) -> None:
    assert overloads(utilisation, requests, constant=True) >= least


def test_the_sustainable_rate_of_an_overloaded_queue_is_its_service_rate() -> None:
    rates = [
        measured(single_server(1.3, 5000, seed=seed, constant=False)).sustainable_requests_per_s
        or 0
        for seed in range(20)
    ]
    standard_error = np.std(rates, ddof=1) / np.sqrt(len(rates))
    assert abs(np.mean(rates) - 1) < 4 * standard_error
    assert standard_error < 0.01
