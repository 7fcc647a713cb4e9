from collections.abc import Callable

import numpy as np
import pytest

from sim.metrics.settling import Memory, memory, stretch_means
from sim.metrics.window import Window, measurement_window, time_average
from sim.records import RequestRecords, Simulation, StepSeries

Records = Callable[..., RequestRecords]
Simulate = Callable[..., Simulation]


def test_the_means_of_the_stretches_are_exact_and_average_to_that_of_the_window() -> None:
    # 0 until 1, then 2 until 3, then 1 until 6, then 0; 24 stretches of a quarter second.
    series = StepSeries(np.array([1.0, 3.0, 6.0]), np.array([2, 1, 0]))
    window = Window(0.5, 6.5, steady_state=True)
    means = stretch_means(series, window)
    assert means[:2].tolist() == [0, 0]
    assert means[2:10] == pytest.approx(2.0)
    assert means[10:22] == pytest.approx(1.0)
    assert means.mean() == pytest.approx(time_average(series, window))


def single_server(a_records: Records, a_simulation: Simulate, load: float, n: int) -> Simulation:
    rng = np.random.default_rng([7, n])
    arrival = np.cumsum(rng.exponential(1 / load, n))
    worked = np.cumsum(rng.exponential(1, n))
    start = np.concatenate([[0.0], worked[:-1]])
    done = worked + np.maximum.accumulate(arrival - start)
    return a_simulation(a_records(arrival, last_token_s=done), steady_state=True)


def judged(simulation: Simulation) -> Memory | None:
    return memory(simulation, measurement_window(simulation.records, steady_state=True))


def test_a_queue_near_capacity_remembers_for_as_long_as_a_short_run_lasts(
    a_records: Records, a_simulation: Simulate
) -> None:
    # M/M/1 forgets in 1 / (1 - sqrt(rho))^2 service times: 1,560 at 95 %, 12 at 50 %.
    near = judged(single_server(a_records, a_simulation, 0.95, 3_000))
    assert near is not None
    assert near.stretches < 12
    assert judged(single_server(a_records, a_simulation, 0.5, 3_000)) is None


def test_what_a_short_run_did_not_show_widens_the_share_on_both_sides() -> None:
    # 0.05^(1/6) = 0.607: none of 6 leaves up to 39.3 % unseen.
    six = Memory(stretches=6)
    assert six.unseen == pytest.approx(0.393, abs=0.001)
    assert six.widen((1.0, 1.0)) == pytest.approx((0.607, 1.0), abs=0.001)
    assert six.widen((0.0, 0.5)) == pytest.approx((0.0, 0.5 * 0.607 + 0.393), abs=0.001)
