from collections.abc import Callable

import numpy as np
import pytest

from sim.metrics.measure import measure
from sim.metrics.overload import judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.slo import Slo
from sim.records import FloatArray, RequestRecords, Simulation, Status

Records = Callable[..., RequestRecords]
Simulate = Callable[..., Simulation]


@pytest.fixture
def served(a_records: Records, a_simulation: Simulate) -> Callable[..., Simulation]:
    """One server, first come first served, one second a request."""

    def serve(arrival_s: FloatArray, **facts: object) -> Simulation:
        index = np.arange(len(arrival_s))
        done = index + 1 + np.maximum.accumulate(arrival_s - index)
        records = a_records(arrival_s, admitted_s=done - 1, last_token_s=done)
        return a_simulation(records, **facts)

    return serve


def at_rates(*spans: tuple[float, int]) -> FloatArray:
    """Arrivals at even distances: (rate per second, requests) after each other."""
    gaps = np.concatenate([np.full(count, 1 / rate) for rate, count in spans])
    return np.cumsum(gaps)


@pytest.mark.parametrize("rate", [1.01, 1.1, 2, 50])
def test_more_than_is_served_is_overload_and_the_sustainable_rate_is_the_server_s(
    served: Callable[..., Simulation], rate: float
) -> None:
    load = judge(served(at_rates((rate, 4000)), steady_state=True))
    assert load.overloaded
    assert load.sustainable_requests_per_s == pytest.approx(1.0)


@pytest.mark.parametrize("rate", [0.1, 0.9, 1.0])
def test_no_more_than_is_served_is_no_overload(
    served: Callable[..., Simulation], rate: float
) -> None:
    load = judge(served(at_rates((rate, 4000)), steady_state=True))
    assert not load.overloaded
    assert not load.filling_up


def test_a_burst_that_drains_is_not_overload(served: Callable[..., Simulation]) -> None:
    early = at_rates((0.5, 500), (3, 400), (0.4, 1100))
    late = at_rates((0.5, 1400), (2, 200), (0.4, 400))
    assert not judge(served(early)).overloaded
    assert not judge(served(late)).overloaded


def test_a_trace_that_ends_beyond_capacity_is_overloaded_at_its_end(
    served: Callable[..., Simulation],
) -> None:
    load = judge(served(at_rates((0.5, 1200), (2, 800))))
    assert load.overloaded
    # Only the time with a queue counts: 0.5 a second before it is not the capacity.
    assert load.sustainable_requests_per_s == pytest.approx(1.0, rel=0.01)


def test_everything_at_once_is_a_batch_job_and_not_overload(
    served: Callable[..., Simulation],
) -> None:
    assert not judge(served(np.zeros(1000))).overloaded


def test_a_closed_loop_is_never_overloaded(served: Callable[..., Simulation]) -> None:
    assert not judge(served(at_rates((2, 4000)), closed_loop=True)).overloaded


def test_filling_up_without_a_queue_is_not_overload_but_is_said(
    a_records: Records, a_simulation: Simulate
) -> None:
    # Everyone is admitted at once and stays for longer than the arrivals last.
    arrival = at_rates((10, 1000))
    simulation = a_simulation(a_records(arrival, last_token_s=arrival + 150), steady_state=True)
    load = judge(simulation)
    assert not load.overloaded
    assert load.filling_up


def test_requests_that_never_got_in_count_as_waiting(
    a_records: Records, a_simulation: Simulate
) -> None:
    arrival = at_rates((1, 400))
    never = np.where(np.arange(400) % 2, np.nan, arrival)
    status = np.where(np.isnan(never), Status.UNFINISHED, Status.FINISHED)
    records = a_records(arrival, admitted_s=never, last_token_s=never + 1, status=status)
    assert judge(a_simulation(records)).overloaded
    rejected = np.where(np.isnan(never), Status.REJECTED, Status.FINISHED)
    refused = a_records(arrival, admitted_s=never, last_token_s=never + 1, status=rejected)
    assert not judge(a_simulation(refused)).overloaded


def test_an_overloaded_run_shows_no_latency_but_attainment_over_all_that_was_offered(
    served: Callable[..., Simulation],
) -> None:
    simulation = served(at_rates((2, 4000)), steady_state=True)
    # Request i arrives at (i + 1) / 2 and starts at i + 0.5: TTFT = i / 2, 20 s for i = 40.
    slo = Slo(ttft_ms=20_000, ttlt_p50_ms=1e9, attainment=0)
    result = measure(simulation, slo=slo, pipeline=Pipeline(), gpus=1, seed=0)
    assert result.status == "overloaded"
    assert result.sustainable_requests_per_s == pytest.approx(1.0)
    assert all(summary.mean is summary.p50 is None for summary in result.latency.values())
    assert result.waterfall == ()
    assert result.throughput.user_tokens_per_s is None
    assert result.warmup_requests == 0
    assert result.slo.attainment == pytest.approx(41 / 4000)
    assert result.slo.on_percentiles == {"ttlt_p50": False}
    assert not result.slo.met
