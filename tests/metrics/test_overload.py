from collections.abc import Callable

import numpy as np
import pytest

from sim.economics.cost import price
from sim.economics.price_list import Quote
from sim.metrics.measure import measure
from sim.metrics.overload import judge
from sim.metrics.pipeline import Pipeline
from sim.metrics.result import Metrics
from sim.metrics.slo import Slo
from sim.records import FloatArray, Leaps, RequestRecords, Simulation, Status

QUOTE = Quote(
    gpu="h100_sxm",
    term="on_demand",
    usd_per_gpu_hour=3.6,
    instance="one",
    gpus_per_instance=1,
    source="a round figure",
    as_of="undated",
)
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


def measured(simulation: Simulation, slo: Slo | None = None) -> Metrics:
    return measure(simulation, slo=slo or Slo(), pipeline=Pipeline(), gpus=1, seed=0)


def at_rates(*spans: tuple[float, int]) -> FloatArray:
    """Arrivals at even distances: (rate per second, requests) after each other."""
    gaps = np.concatenate([np.full(count, 1 / rate) for rate, count in spans])
    return np.cumsum(gaps)


@pytest.mark.parametrize("rate", [1.01, 1.1, 2, 50])
def test_more_than_is_served_is_overload_and_the_sustainable_rate_is_the_server_s(
    served: Callable[..., Simulation], rate: float
) -> None:
    result = measured(served(at_rates((rate, 4000)), steady_state=True))
    assert result.status == "overloaded"
    assert result.sustainable_requests_per_s == pytest.approx(1.0)
    assert result.throughput.requests_per_s == result.sustainable_requests_per_s


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
    result = measured(served(at_rates((0.5, 1200), (2, 800))))
    assert result.status == "overloaded"
    # Only the time with a queue counts: 0.5 a second before it is not the capacity.
    assert result.sustainable_requests_per_s == pytest.approx(1.0)


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
    result = measured(simulation, slo)
    assert result.status == "overloaded"
    assert all(summary.mean is summary.p50 is None for summary in result.latency.values())
    assert result.waterfall == ()
    assert result.throughput.user_tokens_per_s is None
    assert result.warmup_requests == 0
    assert result.slo.attainment == pytest.approx(41 / 4000)
    assert result.slo.on_percentiles == {"ttlt_p50": False}
    assert not result.slo.met


@pytest.fixture
def filling(a_records: Records, a_simulation: Simulate) -> Callable[..., Simulation]:
    """So many servers, each with a queue of its own, served in turn; `time_s` a request each."""

    def fill(servers: int, time_s: FloatArray, per_s: float = 1e3, **facts: object) -> Simulation:
        arrival = at_rates((per_s, len(time_s)))
        done = np.empty(len(time_s))
        for server in range(servers):
            done[server::servers] = np.cumsum(time_s[server::servers])
        replica = np.arange(len(time_s)) % servers
        records = a_records(arrival, admitted_s=done - time_s, last_token_s=done, replica=replica)
        return a_simulation(records, replicas=servers, **facts)

    return fill


def test_the_time_in_which_a_deployment_fills_up_does_not_count_as_a_lack_of_capacity(
    filling: Callable[..., Simulation],
) -> None:
    # One server in a hundred; the first answers take 200 s, all others 10 s.
    time_s = np.where(np.arange(10_000) < 100, 200.0, 10.0)
    result = measured(filling(100, time_s))
    assert result.throughput.requests_per_s == pytest.approx(10.0)


def test_a_replica_that_runs_out_of_work_ends_what_is_measured(
    filling: Callable[..., Simulation],
) -> None:
    # The second replica is ten times as fast and done after 1,000 of 10,000 s.
    time_s = np.where(np.arange(20_000) % 2, 0.1, 1.0)
    result = measured(filling(2, time_s))
    assert result.window is not None
    assert result.window.end_s <= 1000
    assert result.throughput.requests_per_s == pytest.approx(11.0, rel=0.01)


def test_all_that_is_paid_is_divided_by_what_a_saturated_deployment_finishes(
    served: Callable[..., Simulation], some_leaps: Callable[..., Leaps]
) -> None:
    # Arrivals last 80 s and serving them 4,000 s: a pass a second, from the first arrival on.
    leaps = some_leaps(np.arange(4000.0), np.ones(4000), np.full(4000, 0.25))
    simulation = served(at_rates((50, 4000)), leaps=leaps, steady_state=True)
    metrics = measured(simulation)
    assert metrics.utilisation.busy == pytest.approx(1.0)
    cost = price(simulation, metrics, QUOTE, 1)
    assert cost.usd_per_request == pytest.approx(0.001)  # 3.6 USD an hour, one a second
    assert cost.usd_per_million_output_tokens_all_in == pytest.approx(0.001 / 5 * 1e6)
    assert cost.usd_per_million_input_tokens == pytest.approx(0.25 * 0.001 / 10 * 1e6)


def test_rates_of_an_overloaded_run_say_what_they_stand_for(
    served: Callable[..., Simulation],
) -> None:
    notes = measured(served(at_rates((50, 4000)), steady_state=True)).notes
    assert any("those of the saturated deployment" in note for note in notes)
    assert not any("are rough" in note for note in notes)


def test_rates_of_hardly_more_requests_than_are_served_at_once_are_called_rough(
    filling: Callable[..., Simulation],
) -> None:
    # A hundred servers; each is seen to finish two or three requests.
    result = measured(filling(100, np.linspace(100, 110, 400)))
    assert result.status == "overloaded"
    assert result.sustainable_requests_per_s is not None
    assert any("are rough" in note for note in result.notes)


def test_a_deployment_that_has_hardly_filled_up_shows_no_sustainable_rate(
    filling: Callable[..., Simulation],
) -> None:
    # A hundred servers; each is seen to finish one request, all within seconds of each other.
    result = measured(filling(100, np.linspace(100, 110, 250)))
    assert result.status == "overloaded"
    assert result.sustainable_requests_per_s is result.throughput.requests_per_s is None


@pytest.mark.parametrize("requests", [600, 1000, 1630, 4000])
def test_the_sustainable_rate_does_not_depend_on_how_long_the_run_is(
    filling: Callable[..., Simulation], requests: int
) -> None:
    # A hundred servers that fill up within 5 s and all take 100 s: bursts of a hundred answers.
    result = measured(filling(100, np.full(requests, 100.0), per_s=20))
    assert result.sustainable_requests_per_s == pytest.approx(1.0, rel=0.06)


@pytest.mark.parametrize("requests", [2, 20, 50])
def test_a_run_that_ends_before_the_first_answers_does_not_say_that_the_deployment_keeps_up(
    a_records: Records, a_simulation: Simulate, requests: int
) -> None:
    arrival = at_rates((10, requests))
    slow, quick = arrival + 60, arrival + 0.01
    short = measured(a_simulation(a_records(arrival, last_token_s=slow), steady_state=True))
    assert short.status == "ok"
    assert short.too_short
    assert not short.slo.met
    assert any("too short to tell" in note for note in short.notes)
    enough = measured(a_simulation(a_records(arrival, last_token_s=quick), steady_state=True))
    assert not enough.too_short
    assert enough.slo.met


def test_a_trace_is_never_too_short_it_is_all_there_is(
    a_records: Records, a_simulation: Simulate
) -> None:
    arrival = at_rates((10, 20))
    assert not measured(a_simulation(a_records(arrival, last_token_s=arrival + 60))).too_short


def test_an_overloaded_run_in_which_nothing_finishes_has_no_rate_and_says_so(
    a_records: Records, a_simulation: Simulate
) -> None:
    arrival, never = at_rates((1, 400)), [float("nan")] * 400
    status = [Status.UNFINISHED] * 400
    records = a_records(arrival, admitted_s=never, last_token_s=never, status=status)
    result = measured(a_simulation(records))
    assert result.throughput.offered_requests_per_s == pytest.approx(1.0, rel=0.01)
    assert result.throughput.requests_per_s is result.sustainable_requests_per_s is None
    assert result.utilisation.busy is None
    assert any("take more requests" in note for note in result.notes)


def test_littles_law_is_not_held_against_a_queue_that_grows(
    served: Callable[..., Simulation],
) -> None:
    law = measured(served(at_rates((2, 4000)), steady_state=True)).littles_law
    assert (law.lhs, law.rhs) == (None, None)
