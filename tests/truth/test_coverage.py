"""Intervals against known means: nine times in ten they hold them, also those of small runs.

The queue is M/D/1: Poisson arrivals to one server whose service takes 1 s. Lindley's recursion
gives its times at once; that the engine gives the same ones is tested in `test_queueing`.
"""

from functools import cache

import numpy as np
import pytest

from sim.metrics.measure import measure
from sim.metrics.pipeline import Pipeline
from sim.metrics.replicated import Replication, pool, replication
from sim.metrics.slo import Slo
from sim.metrics.summary import Summary
from tests.truth.test_statistics_queueing import single_server

pytestmark = [pytest.mark.truth, pytest.mark.slow]
RUNS = 200
LEAST, MOST = 0.85, 0.95
SLACK = 0.02
"""One standard error of a share of 200: 0.9 measured as 0.86 or 0.94 is chance."""


def wait_of(utilisation: float, requests: int, seed: int) -> Summary:
    """Return the summary of the waits of one run: TTFT in the engine."""
    simulation = single_server(utilisation, requests, seed=seed, constant=True)
    metrics = measure(simulation, slo=Slo(), pipeline=Pipeline(), gpus=1, seed=seed)
    return metrics.latency["engine_ttft"]


def mean_wait_s(utilisation: float) -> float:
    """Pollaczek and Khinchine for a constant service of 1 s."""
    return utilisation / (2 * (1 - utilisation))


@cache
def true_p99_s(utilisation: float) -> float:
    """Of 20 long runs: its error is far below the width of an interval."""
    waits = []
    for seed in range(20):
        records = single_server(utilisation, 200_000, seed=10**6 + seed, constant=True).records
        waits.append((records.admitted_s - records.arrival_s)[2000:])
    return float(np.quantile(np.concatenate(waits), 0.99))


@pytest.mark.parametrize(
    ("utilisation", "requests"), [(0.3, 1000), (0.5, 1000), (0.5, 2000), (0.7, 2000), (0.7, 5000)]
)
def test_the_interval_of_the_mean_of_one_run_holds_it_nine_times_in_ten(
    utilisation: float, requests: int
) -> None:
    truth, held = mean_wait_s(utilisation), 0
    for seed in range(RUNS):
        summary = wait_of(utilisation, requests, seed)
        assert summary.interval_mean is not None
        held += summary.interval_mean[0] <= truth <= summary.interval_mean[1]
    assert LEAST - SLACK <= held / RUNS <= MOST + SLACK


@pytest.mark.parametrize(
    ("utilisation", "requests"), [(0.3, 2000), (0.5, 1000), (0.5, 5000), (0.7, 5000), (0.8, 2000)]
)
def test_an_interval_of_p99_is_given_and_wrong_once_in_ten_at_most(
    utilisation: float, requests: int
) -> None:
    """A short run holds few bursts: then there is no interval, rather than a wrong one."""
    truth, wrong, given = true_p99_s(utilisation), 0, 0
    for seed in range(RUNS):
        interval = wait_of(utilisation, requests, seed).interval_p99
        if interval is not None:
            given += 1
            wrong += not interval[0] <= truth <= interval[1]
    assert wrong / RUNS <= 1 - LEAST
    if given > RUNS / 2:
        assert wrong / given <= 1 - LEAST + SLACK


def one_run(requests: int, seed: int) -> Replication:
    simulation, slo, pipeline = (
        single_server(0.8, requests, seed=seed, constant=True), Slo(), Pipeline(),
    )  # fmt: skip
    metrics = measure(simulation, slo=slo, pipeline=pipeline, gpus=1, seed=seed, intervals=False)
    return replication(simulation, metrics, slo=slo, pipeline=pipeline)


def test_the_interval_over_ten_runs_holds_the_mean_nine_times_in_ten() -> None:
    """Runs of 1,000 requests at 80 %, on each of which an interval of its own is too narrow."""
    held = 0
    for trial in range(RUNS):
        runs = [one_run(1000, 10_000 + trial * 10 + number) for number in range(10)]
        interval = pool(runs, slo=Slo(), seed=0).latency["engine_ttft"].interval_mean
        assert interval is not None
        held += interval[0] <= mean_wait_s(0.8) <= interval[1]
    assert LEAST - SLACK <= held / RUNS <= MOST + SLACK
