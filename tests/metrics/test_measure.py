from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from sim.metrics.measure import measure
from sim.metrics.pipeline import Pipeline
from sim.metrics.result import Metrics
from sim.metrics.slo import Slo
from sim.records import Leaps, RequestRecords, Simulation, Status, WeightedSamples

NAN = float("nan")
Records = Callable[..., RequestRecords]
Simulate = Callable[..., Simulation]


def measured(simulation: Simulation, **slo: float) -> Metrics:
    return measure(
        simulation,
        slo=Slo.model_validate(slo),
        pipeline=Pipeline(network_rtt_ms=100),
        gpus=2,
        seed=0,
    )


def three(a_records: Records) -> RequestRecords:
    """Engine TTFT 1, 2, 3 s; time inside 2, 4, 6 s; 2, 4 and 11 tokens out, 10 in each."""
    return a_records(
        [0.0, 1.0, 2.0],
        admitted_s=[0.0, 2.0, 4.0],
        first_token_s=[1.0, 3.0, 5.0],
        last_token_s=[2.0, 5.0, 8.0],
        output_tokens=[2, 4, 11],
        max_gap_s=[1.0, 1.0, 0.5],
    )


def test_means_of_three_requests(a_records: Records, a_simulation: Simulate) -> None:
    latency = measured(a_simulation(three(a_records))).latency
    assert latency["engine_ttft"].mean == pytest.approx(2.0)
    assert latency["ttft"].mean == pytest.approx(2.1)
    assert latency["ttlt"].mean == pytest.approx(4.1)
    assert latency["tpot"].mean == pytest.approx((1 + 2 / 3 + 0.3) / 3)
    assert latency["max_gap"].mean == pytest.approx(2.5 / 3)
    assert latency["ttft"].count == 3
    assert latency["ttft"].p50 is None
    assert latency["ttft"].interval_mean is None


def test_gaps_are_weighted_by_how_often_they_occurred(
    a_records: Records, a_simulation: Simulate
) -> None:
    records = a_records(np.arange(1000.0), last_token_s=np.arange(1000.0) + 0.5)
    gaps = WeightedSamples(np.array([9.0, 0.1]), np.array([1.0, 99.0]))
    itl = measured(a_simulation(records, gaps=gaps)).latency["itl"]
    assert itl.mean == pytest.approx((9 + 9.9) / 100)
    assert (itl.p50, itl.p99, itl.count) == (0.1, 0.1, 100)


def test_throughput_counts_what_finishes_in_the_window(
    a_records: Records, a_simulation: Simulate
) -> None:
    rates = measured(a_simulation(three(a_records))).throughput
    assert rates.requests_per_s == pytest.approx(3 / 8)
    assert rates.input_tokens_per_s == pytest.approx(30 / 8)
    assert rates.output_tokens_per_s == pytest.approx(17 / 8)
    assert rates.output_tokens_per_s_per_gpu == pytest.approx(17 / 16)
    # Two gaps in two seconds, however long the last answer takes.
    assert rates.offered_requests_per_s == pytest.approx(1.0)


def test_background_finishing_in_the_window_is_throughput_but_is_not_offered(
    a_records: Records, a_simulation: Simulate
) -> None:
    # Measured 0 to 4 s; the last measured finishes outside, a background request inside.
    records = a_records([0.0, 1.0, 4.0, 2.0], last_token_s=[2.0, 3.0, 6.0, 3.0])
    result = measured(a_simulation(records, measured=3, steady_state=True))
    assert result.requests.offered == 3
    assert result.requests.background == 1
    assert result.throughput.requests == 3
    assert result.throughput.requests_per_s == pytest.approx(3 / 4)
    assert result.throughput.offered_requests_per_s == pytest.approx(2 / 4)
    assert result.window_s == 4


def test_the_waterfall_adds_up_to_the_mean_ttft(
    a_records: Records, a_simulation: Simulate
) -> None:
    result = measured(a_simulation(three(a_records)))
    stages = {stage.stage: stage for stage in result.waterfall}
    assert stages["queue"].mean_s == pytest.approx(1.0)
    assert stages["prefill and first pass"].mean_s == pytest.approx(1.0)
    assert stages["network"].mean_s == pytest.approx(0.1)
    assert stages["network"].origin == "assumed"
    assert stages["queue"].origin == "simulated"
    total = sum(stage.mean_s for stage in result.waterfall)
    assert total == pytest.approx(result.latency["ttft"].mean)


def test_goodput_is_never_more_than_what_finishes_in_the_window(
    a_records: Records, a_simulation: Simulate
) -> None:
    # All meet the target; two of five finish between the first and the last arrival, at 4 s.
    records = a_records([0.0, 1, 2, 3, 4], last_token_s=[2.5, 3.5, 4.5, 5.5, 6.5])
    result = measured(a_simulation(records, steady_state=True), ttlt_ms=3000)
    assert result.slo.attainment == 1
    assert result.throughput.requests_per_s == pytest.approx(2 / 4)
    assert result.slo.goodput_requests_per_s == result.throughput.requests_per_s


def test_attainment_counts_the_rejected_and_the_unfinished_as_missed(
    a_records: Records, a_simulation: Simulate
) -> None:
    records = a_records(
        [0.0, 1.0, 2.0, 3.0],
        admitted_s=[0.0, 1.0, NAN, 3.0],
        first_token_s=[1.0, 4.0, NAN, 3.5],
        last_token_s=[2.0, 5.0, NAN, NAN],
        status=[Status.FINISHED, Status.FINISHED, Status.REJECTED, Status.UNFINISHED],
    )
    result = measured(a_simulation(records), ttft_ms=2000, tpot_ms=300, attainment=0.25)
    counts = result.requests
    assert (counts.offered, counts.finished, counts.rejected, counts.unfinished) == (4, 2, 1, 1)
    assert result.slo.attainment == 0.25
    assert result.slo.by_target == {"ttft": 0.25, "tpot": 0.5}
    assert result.slo.goodput_requests_per_s == pytest.approx(1 / 5)  # one in five seconds
    assert result.slo.met
    assert any("1 request never finished" in note for note in result.notes)


def test_a_request_without_tpot_cannot_miss_a_target_on_it(
    a_records: Records, a_simulation: Simulate
) -> None:
    records = a_records([0.0, 1.0], last_token_s=[9.0, 9.0], output_tokens=[1, 9], chunks=[1, 1])
    assert measured(a_simulation(records), tpot_ms=1, max_gap_ms=1).slo.attainment == 1


def test_a_target_on_a_percentile_is_met_missed_or_unknown(
    a_records: Records, a_simulation: Simulate
) -> None:
    arrival = np.arange(100.0)
    records = a_records(arrival, last_token_s=arrival + np.linspace(0.1, 0.9, 100))
    asked = {"ttlt_p50_ms": 700, "ttlt_p90_ms": 700, "ttlt_p99_ms": 700}
    slo = measured(a_simulation(records), **asked).slo
    # With 0.1 s of network, p50 is 0.6 s and p90 0.92 s; a p99 needs 1,000 requests.
    assert slo.on_percentiles == {"ttlt_p50": True, "ttlt_p90": False, "ttlt_p99": None}
    assert not slo.met
    assert measured(a_simulation(records), ttlt_p50_ms=700).slo.met
    assert not measured(a_simulation(records), ttlt_p99_ms=700).slo.met


@pytest.mark.parametrize("steady_state", [True, False])
@pytest.mark.parametrize("status", [Status.REJECTED, Status.UNFINISHED])
@pytest.mark.parametrize("count", [0, 1, 3, 200])
def test_a_run_in_which_nothing_finishes_has_no_latency_and_no_warning(
    a_records: Records, a_simulation: Simulate, status: Status, count: int, steady_state: bool
) -> None:
    never = [NAN] * count
    records = a_records(
        np.arange(float(count)),
        admitted_s=never,
        first_token_s=never,
        last_token_s=never,
        status=[status] * count,
    )
    result = measured(a_simulation(records, steady_state=steady_state), ttft_ms=1000)
    assert result.latency["ttft"].mean is None
    assert result.throughput.user_tokens_per_s is None
    assert result.slo.attainment == (0 if count else None)
    assert result.waterfall == ()
    assert not result.slo.met
    # A queue that only grows shows no rate: nobody knows what would have come out in the end.
    shown = count > 1 and result.status == "ok"
    assert result.throughput.requests_per_s == (0 if shown else None)


def test_answers_of_one_token_have_latency_but_no_tpot(
    a_records: Records, a_simulation: Simulate
) -> None:
    records = a_records([0.0, 1.0], last_token_s=[1.0, 2.0], output_tokens=[1, 1])
    latency = measured(a_simulation(records)).latency
    assert latency["ttlt"].mean == pytest.approx(1.1)
    assert latency["tpot"].mean is None
    assert latency["tpot"].count == 0
    assert latency["itl"].mean is None


def test_busy_share_is_time_in_passes_over_replica_time(
    a_records: Records, a_simulation: Simulate, some_leaps: Callable[..., Leaps]
) -> None:
    # Window 0 to 8; 2 s + 1 s of a leap that runs out of the window, over two replicas.
    leaps = some_leaps([1.0, 7.0], [2.0, 3.0], [0.0, 0.0])
    simulation = a_simulation(three(a_records), leaps=leaps, replicas=2)
    assert measured(simulation).utilisation.busy == pytest.approx(3 / 16)


def uniform(n: int, **facts: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    arrival = np.cumsum(rng.exponential(1, n))
    first = arrival + rng.exponential(0.1, n)
    last = first + rng.exponential(0.1, n)
    return {"arrival_s": arrival, "first_token_s": first, "last_token_s": last, **facts}


def test_the_same_seed_gives_the_same_metrics(a_records: Records, a_simulation: Simulate) -> None:
    simulation = a_simulation(a_records(**uniform(3000)), steady_state=True)
    assert measured(simulation) == measured(simulation)


def test_without_intervals_everything_else_is_the_same(
    a_records: Records, a_simulation: Simulate
) -> None:
    simulation = a_simulation(a_records(**uniform(3000)), steady_state=True)
    asked: dict[str, Any] = {"slo": Slo(ttft_ms=100), "pipeline": Pipeline(), "gpus": 2, "seed": 0}
    full = asdict(measure(simulation, **asked))
    bare = asdict(measure(simulation, **asked, intervals=False))
    intervals = [pair for pair in flat(bare) if "interval" in pair[0]]
    assert {value for name, value in intervals if name != "interval_basis"} == {None}
    assert [pair for pair in flat(bare) if "interval" not in pair[0]] == [
        pair for pair in flat(full) if "interval" not in pair[0]
    ]


def flat(value: dict[str, Any], name: str = "") -> list[tuple[str, object]]:
    """Return the leaves of nested dictionaries, each with its name."""
    pairs: list[tuple[str, object]] = []
    for key, part in value.items():
        pairs += flat(part, key) if isinstance(part, dict) else [(key, part)]
    return pairs
