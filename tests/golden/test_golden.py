"""What the simulator says does not change unseen, and obeys the laws on the very same runs."""

import runpy
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from sim.decoding import AnyStrategy
from sim.records import Status
from sim.run import Outcome

GOLDEN = runpy.run_path(str(Path(__file__).with_name("regenerate.py")))
STRATEGIES = list(GOLDEN["STRATEGIES"])
NAMES = [*STRATEGIES, *GOLDEN["WORKLOADS"]]


@cache
def outcome_of(name: str) -> Outcome:
    outcome: Outcome = GOLDEN["golden_outcome"](name)
    return outcome


@pytest.fixture(params=NAMES)
def outcome(request: pytest.FixtureRequest) -> Any:
    return outcome_of(request.param)


def test_every_strategy_has_a_golden_file() -> None:
    names = {kind.model_fields["name"].default for kind in get_args(get_args(AnyStrategy)[0])}
    assert names == set(STRATEGIES)


@pytest.mark.parametrize("name", NAMES)
def test_the_outcome_is_the_frozen_one(name: str) -> None:
    frozen = GOLDEN["golden_path"](name).read_text("utf-8")
    assert GOLDEN["golden_text"](outcome_of(name)) == frozen, "meant? then: make golden"


def test_every_request_is_accounted_for_and_gets_its_tokens(outcome: Outcome) -> None:
    counts = outcome.metrics.requests
    assert counts.offered == counts.finished + counts.rejected + counts.unfinished
    assert counts.finished > 0


def test_the_golden_runs_are_not_too_easy(outcome: Outcome) -> None:
    records = outcome.simulation.records
    assert records.preemptions.sum() > 0
    assert records.input_tokens.max() > outcome.scenario.deployment.max_batched_tokens


def test_no_clock_runs_back(outcome: Outcome) -> None:
    records = outcome.simulation.records
    done = records.status == Status.FINISHED
    times = [records.arrival_s, records.admitted_s, records.first_token_s, records.last_token_s]
    for earlier, later in pairwise(times):
        assert np.all(earlier[done] <= later[done])


def test_the_mean_number_inside_is_rate_times_time(outcome: Outcome) -> None:
    law = outcome.metrics.littles_law
    assert law.lhs is not None
    assert law.lhs == pytest.approx(law.rhs, rel=1e-9)


def test_what_is_paid_is_input_output_and_idle(outcome: Outcome) -> None:
    cost = outcome.cost
    assert cost is not None
    parts = [line.usd_per_hour for line in cost.lines[:-1]]
    assert sum(parts) == pytest.approx(4 * 2.0, rel=1e-12)  # four GPUs at two dollars


def test_no_pass_is_faster_than_reading_the_weights_once(outcome: Outcome) -> None:
    leaps, cost = outcome.simulation.leaps, outcome.serving.cost
    weights = outcome.serving.memory.weight_bytes - 2 * 128256 * 4096 / 2  # embedding not read
    floor_s = weights / cost.gpu.memory_bandwidth_bytes_per_s.value
    decoding = leaps.prefill_s == 0
    assert leaps.first_s[decoding].min() > floor_s
