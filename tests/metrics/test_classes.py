"""What each class sees of a run: counts, latency, targets of its own, and whether it starves."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sim.metrics.measure import measure
from sim.metrics.pipeline import Pipeline
from sim.metrics.result import ClassMetrics, Metrics
from sim.metrics.slo import Slo
from sim.records import FloatArray, IntArray, RequestRecords, Simulation, Status

Records = Callable[..., RequestRecords]
Simulate = Callable[..., Simulation]


@pytest.fixture
def of_two(a_records: Records, a_simulation: Simulate) -> Callable[..., Simulation]:
    """Requests every second in turn of `chat` and `batch`, answered after so many seconds."""

    def make(after_s: FloatArray, **columns: Sequence[int]) -> Simulation:
        arrival_s = np.arange(len(after_s), dtype=np.float64)
        done_s = arrival_s + after_s
        which = np.arange(len(after_s)) % 2
        waited = np.where(after_s > 1, done_s - 1, arrival_s)
        records = a_records(
            arrival_s, admitted_s=waited, last_token_s=done_s, request_class=which, **columns
        )
        return a_simulation(records, class_names=("chat", "batch"))

    return make


def measured(simulation: Simulation, slo: Slo | None = None) -> Metrics:
    return measure(simulation, slo=slo or Slo(), pipeline=Pipeline(), gpus=1, seed=0)


def by_name(metrics: Metrics) -> dict[str, ClassMetrics]:
    return {one.name: one for one in metrics.classes}


def in_turn(chat: float, batch: float, count: int = 200) -> FloatArray:
    return np.tile([chat, batch], count // 2)


def test_a_run_of_one_class_has_no_classes(a_records: Records, a_simulation: Simulate) -> None:
    records = a_records(np.arange(50.0), last_token_s=np.arange(50.0) + 1)
    assert measured(a_simulation(records)).classes == ()


def test_each_class_has_its_own_counts_and_latency(of_two: Callable[..., Simulation]) -> None:
    status: IntArray = np.full(200, Status.FINISHED)
    status[:10:2] = Status.REJECTED
    found = by_name(measured(of_two(in_turn(0.5, 4.0), status=status)))
    assert (found["chat"].requests.offered, found["chat"].requests.rejected) == (100, 5)
    assert (found["batch"].requests.offered, found["batch"].requests.finished) == (100, 100)
    assert found["chat"].latency["ttlt"].p50 == pytest.approx(0.5)
    assert found["batch"].latency["ttlt"].mean == pytest.approx(4.0)
    assert found["batch"].latency["ttlt"].count == 100


def test_a_class_is_held_against_its_own_targets_and_the_run_against_all(
    of_two: Callable[..., Simulation],
) -> None:
    """Chat must answer in 1 s, batch in 5 s: all do. By the general target batch would not."""
    run = of_two(in_turn(0.5, 4.0))
    slo = Slo.model_validate({"ttlt_ms": 1000, "classes": {"batch": {"ttlt_ms": 5000}}})
    metrics = measured(run, slo)
    assert metrics.slo.attainment == 1.0
    assert metrics.slo.by_target == {"ttlt": 1.0}
    assert metrics.slo.met
    general = measured(run, Slo(ttlt_ms=1000))
    assert general.slo.attainment == 0.5
    assert not general.slo.met
    assert by_name(general)["chat"].slo.attainment == 1.0
    assert by_name(general)["batch"].slo.attainment == 0.0


def test_goodput_of_the_classes_adds_up_to_that_of_the_run(
    of_two: Callable[..., Simulation],
) -> None:
    slo = Slo.model_validate({"ttlt_ms": 1000, "classes": {"batch": {"ttlt_ms": 3000}}})
    metrics = measured(of_two(in_turn(0.5, 4.0)), slo)
    found, window = by_name(metrics), metrics.window
    assert window is not None
    assert found["batch"].slo.goodput_requests_per_s == 0.0
    chat = found["chat"].slo.goodput_requests_per_s
    assert chat == metrics.slo.goodput_requests_per_s
    assert chat == pytest.approx(100 / window.length_s)


def test_a_named_class_that_misses_its_attainment_fails_the_run(
    of_two: Callable[..., Simulation],
) -> None:
    """95 of 100 batch requests in time: enough for 90 % of them, not for 99 %."""
    after_s = in_turn(0.5, 4.0)
    after_s[1:10:2] = 30.0
    for attainment, met in ((0.9, True), (0.99, False)):
        batch = {"ttlt_ms": 5000, "attainment": attainment}
        slo = Slo.model_validate({"ttlt_ms": 1000, "attainment": 0.9, "classes": {"batch": batch}})
        metrics = measured(of_two(after_s), slo)
        assert metrics.slo.attainment == pytest.approx(0.975)
        assert metrics.slo.met is met
        assert by_name(metrics)["batch"].slo.met is met


def test_a_class_without_any_target_asks_nothing(of_two: Callable[..., Simulation]) -> None:
    slo = Slo.model_validate({"ttlt_ms": 1000, "classes": {"batch": {}}})
    metrics = measured(of_two(in_turn(0.5, 4.0)), slo)
    assert metrics.slo.attainment == 1.0
    assert by_name(metrics)["batch"].slo.by_target == {}
    assert metrics.slo.met


def test_targets_on_percentiles_are_judged_by_class(of_two: Callable[..., Simulation]) -> None:
    slow = {"ttlt_p90_ms": 4500}
    slo = Slo.model_validate({"ttlt_p90_ms": 1000, "classes": {"batch": slow}})
    metrics = measured(of_two(in_turn(0.5, 4.0)), slo)
    assert metrics.slo.on_percentiles == {"ttlt_p90": True}  # of chat alone
    assert by_name(metrics)["batch"].slo.on_percentiles == {"ttlt_p90": True}
    assert metrics.slo.met
    both = measured(of_two(in_turn(0.5, 4.0)), Slo(ttlt_p90_ms=1000))
    assert both.slo.on_percentiles == {"ttlt_p90": False}


def test_a_class_that_starves_shows_while_the_other_is_served(
    of_two: Callable[..., Simulation],
) -> None:
    """Every batch request waits longer than the one before; chat never waits."""
    after_s = in_turn(0.5, 0.0, 2_000)
    after_s[1::2] = 2 + np.arange(1_000) * 3.0
    metrics = measured(of_two(after_s), Slo(ttlt_ms=1000))
    found = by_name(metrics)
    assert found["batch"].starves
    assert not found["batch"].slo.met
    assert found["batch"].latency["ttft"].p99 is None
    assert not found["chat"].starves
    assert found["chat"].latency["ttlt"].p99 == pytest.approx(0.5)
    assert found["chat"].slo.attainment == 1.0
    assert not metrics.slo.met
    assert any(note.startswith("batch starves: its queue grows") for note in metrics.notes)


def test_a_small_class_that_starves_behind_a_quiet_whole_still_shows(
    a_records: Records, a_simulation: Simulate
) -> None:
    """One request in fifty waits without end: too few to see in the queue of all."""
    count = 4_000
    arrival_s = np.arange(count, dtype=np.float64)
    rare = arrival_s % 50 == 0
    swing = 60 * np.sin(arrival_s / 40) ** 2  # the others' queue comes and goes
    admitted_s = np.where(rare, 1e5 + arrival_s, arrival_s + swing)
    records = a_records(
        arrival_s,
        admitted_s=admitted_s,
        last_token_s=admitted_s + 1,
        request_class=rare.astype(np.int64),
    )
    metrics = measured(a_simulation(records, class_names=("common", "rare")))
    assert by_name(metrics)["rare"].starves
    assert not by_name(metrics)["common"].starves


def test_requests_that_are_said_to_warm_up_are_not_counted(
    a_records: Records, a_simulation: Simulate
) -> None:
    arrival_s = np.arange(100.0)
    after_s = np.where(arrival_s < 20, 9.0, 1.0)
    records = a_records(arrival_s, last_token_s=arrival_s + after_s)
    metrics = measured(a_simulation(records, warmup=20))
    assert metrics.requests.offered == 80
    assert metrics.warmup_requests == metrics.requests.background == 20
    assert metrics.latency["ttlt"].mean == pytest.approx(1.0)
