from collections.abc import Callable

import numpy as np
import pytest

from sim.metrics.intervals import student_t95
from sim.metrics.measure import measure
from sim.metrics.over_runs import over_runs
from sim.metrics.pipeline import Pipeline
from sim.metrics.pooled import MOST_GAPS, Pool, condensed, pooled_percentile
from sim.metrics.replicated import Replication, pool, replication
from sim.metrics.slo import Slo
from sim.metrics.summary import summarise_pooled
from sim.records import RequestRecords, Simulation, WeightedSamples

Records = Callable[..., RequestRecords]
Simulate = Callable[..., Simulation]
SLO = Slo(ttft_ms=1500, ttft_p50_ms=1500)


@pytest.fixture
def run_of(a_records: Records, a_simulation: Simulate) -> Callable[..., Replication]:
    """A trace whose requests wait for so long, one a second."""

    def build(*waits_s: float) -> Replication:
        arrival = np.arange(len(waits_s), dtype=float)
        first = arrival + np.array(waits_s)
        records = a_records(arrival, first_token_s=first, last_token_s=first + 2)
        simulation = a_simulation(records)
        metrics = measure(
            simulation, slo=SLO, pipeline=Pipeline(), gpus=1, seed=0, intervals=False
        )
        return replication(simulation, metrics, slo=SLO, pipeline=Pipeline())

    return build


def test_the_interval_over_runs_is_that_of_a_text_book() -> None:
    # sd sqrt(2.5), t(4) = 2.132.
    half = 2.132 * np.sqrt(2.5 / 5)
    assert over_runs([4, 6, 5, 7, 3]) == pytest.approx((5 - half, 5 + half))
    ratio = np.exp(half / 5)
    assert over_runs([4, 6, 5, 7, 3], positive=True) == pytest.approx((5 / ratio, 5 * ratio))
    assert over_runs([4]) is None
    assert over_runs([4, None]) is None


@pytest.mark.parametrize(("df", "value"), [(40, 1.684), (60, 1.671), (100, 1.660), (1000, 1.646)])
def test_student_t_beyond_its_table_is_that_of_larger_tables(df: int, value: float) -> None:
    assert student_t95(df) == pytest.approx(value, abs=0.0006)


def test_means_are_those_of_the_runs_and_counts_add_up(
    run_of: Callable[..., Replication],
) -> None:
    metrics = pool([run_of(1, 1, 1), run_of(2, 2, 2)], slo=SLO, seed=0)
    assert metrics.requests.offered == metrics.requests.finished == 6
    assert metrics.latency["ttft"].mean == pytest.approx(1.5)
    half = 6.314 * np.sqrt(0.5 / 2)
    assert metrics.latency["ttft"].interval_mean == pytest.approx((1.5 - half, 1.5 + half))
    assert metrics.slo.attainment == pytest.approx(0.5)
    assert metrics.slo.by_target == pytest.approx({"ttft": 0.5})
    assert "2 runs" in metrics.interval_basis


def test_percentiles_are_those_of_all_requests_so_runs_too_short_alone_suffice_together(
    run_of: Callable[..., Replication],
) -> None:
    alone = run_of(*np.linspace(0, 1, 15))
    assert alone.metrics.latency["ttft"].p50 is None
    together = pool([alone, run_of(*np.linspace(1, 2, 15))], slo=SLO, seed=0)
    assert together.latency["ttft"].p50 == pytest.approx(1.0, abs=0.05)
    assert together.slo.on_percentiles == {"ttft_p50": True}
    assert any("too few for p99: 30" in note for note in together.notes)


def overloaded(a_records: Records, a_simulation: Simulate) -> Replication:
    arrival = np.arange(1000) / 4
    done = 1.0 + np.arange(1000)  # one a second of the four that come
    records = a_records(arrival, admitted_s=done - 1, first_token_s=done, last_token_s=done)
    simulation = a_simulation(records)
    metrics = measure(simulation, slo=SLO, pipeline=Pipeline(), gpus=1, seed=0, intervals=False)
    assert metrics.status == "overloaded"
    return replication(simulation, metrics, slo=SLO, pipeline=Pipeline())


def test_half_of_the_runs_overloaded_is_overloaded_and_fewer_are_said_and_counted(
    run_of: Callable[..., Replication], a_records: Records, a_simulation: Simulate
) -> None:
    fine, bad = run_of(*np.ones(200)), overloaded(a_records, a_simulation)
    half = pool([fine, bad], slo=SLO, seed=0)
    assert half.status == "overloaded"
    assert half.latency["ttft"].p99 is None
    assert not half.slo.met
    rest = pool([fine, fine, bad], slo=SLO, seed=0)
    assert rest.status == "ok"
    assert rest.latency["ttft"].count == 1400
    assert (rest.latency["ttft"].p99 or 0) > 100  # its slow requests are not left out
    assert any(note.startswith("1 of 3 runs overloaded on their own") for note in rest.notes)


def test_an_interval_over_runs_holds_the_truth_nine_times_in_ten() -> None:
    """Runs that are shifted as a whole: what one run could never know of itself."""
    held, trials = 0, 300
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        columns = [rng.exponential(1, 200) + rng.normal(0, 0.3) for _ in range(20)]
        _, interval = pooled_percentile(Pool.of(columns), 0.9, seed)
        assert interval is not None
        held += interval[0] <= TRUE_P90 <= interval[1]
    assert 0.85 < held / trials < 0.96


def _true_p90() -> float:
    rng = np.random.default_rng(99)
    return float(np.quantile(rng.exponential(1, 10**6) + rng.normal(0, 0.3, 10**6), 0.9))


TRUE_P90 = _true_p90()


def test_few_runs_are_cut_into_batches_and_no_batch_holds_parts_of_two_runs() -> None:
    whole = Pool.of([np.zeros(100), np.zeros(300)])
    labels, owners = whole.batches()
    assert len(owners) == 10 + 12  # 25 // 2 each, but ten values at least
    assert (owners[labels] == np.repeat([0, 1], [100, 300])).all()


def test_gaps_in_short_have_the_same_mean_and_percentiles() -> None:
    rng = np.random.default_rng(3)
    gaps = WeightedSamples(
        rng.exponential(0.02, 50_000), rng.integers(1, 9, 50_000).astype(np.float64)
    )
    short = condensed(gaps)
    assert len(short.values) <= MOST_GAPS
    whole, less = summarise_pooled(gaps, 10_000), summarise_pooled(short, 10_000)
    assert less.mean == pytest.approx(whole.mean)
    assert less.count == whole.count
    for name in ("p50", "p90", "p99"):
        assert less.value(name) == pytest.approx(whole.value(name), rel=0.01)
