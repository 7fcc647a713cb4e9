"""Pipelines and attention-data ranks against what can be worked out on paper."""

from typing import Literal

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.records import Simulation, Status, Traffic
from tests.laws.constant_pass import ConstantLanes

pytestmark = pytest.mark.truth
MODES: tuple[Literal["leap", "pass"], ...] = ("leap", "pass")
EVERY_MODE = pytest.mark.parametrize("mode", MODES)
STAGES = pytest.mark.parametrize("stages", [2, 3, 4, 8])
PASS_S = 1.0


def pipeline(
    stages: int, outputs: list[int], mode: Literal["leap", "pass"], **settings: float
) -> Simulation:
    """Serve answers of these lengths, all asked for at once."""
    answers = np.array(outputs)
    asked = Traffic(np.zeros(len(answers)), np.ones_like(answers), answers, len(answers))
    room = Limits(1, 64, 64, KvShape(10_000, 1), 10_000, microbatches=stages)
    cost = ConstantLanes(PASS_S, stages, **settings)
    return simulate(asked, answers - 1, Autoregressive(), cost, room, mode=mode)


@EVERY_MODE
@STAGES
def test_a_request_alone_takes_all_stages_for_each_token(
    stages: int, mode: Literal["leap", "pass"]
) -> None:
    seen = pipeline(stages, [30], mode)
    assert seen.records.first_token_s[0] == pytest.approx(PASS_S)
    assert seen.records.last_token_s[0] == pytest.approx(30 * PASS_S)


@EVERY_MODE
@STAGES
def test_a_full_pipeline_yields_a_microbatch_each_stage_time(
    stages: int, mode: Literal["leap", "pass"]
) -> None:
    """Microbatch k goes in at tick k, and its pass number n comes out n x stages ticks later."""
    seen = pipeline(stages, [50] * stages, mode)
    stage_s = PASS_S / stages
    in_turn = (np.arange(stages) + 50 * stages) * stage_s
    np.testing.assert_allclose(seen.records.last_token_s, in_turn)
    tokens_per_s = 50 * stages / seen.records.last_token_s.max()
    filling = (stages - 1) * stage_s  # the first pass finds the other stages empty
    assert tokens_per_s == pytest.approx(50 * stages / (50 * PASS_S + filling))


@EVERY_MODE
def test_half_as_many_microbatches_as_stages_leave_half_of_the_pipeline_empty(
    mode: Literal["leap", "pass"],
) -> None:
    seen = pipeline(4, [40, 40], mode)
    np.testing.assert_allclose(seen.records.last_token_s, [40.0, 40.25])
    leaps = seen.leaps
    busy_s = leaps.duration_s.sum() / seen.lanes
    assert busy_s == pytest.approx(0.5 * 40.0)


@EVERY_MODE
def test_every_microbatch_goes_at_the_pace_of_the_fullest(mode: Literal["leap", "pass"]) -> None:
    """Three requests in two lanes: passes of 3 and 2 s on two stages; a round is 2 x 1.5 s."""
    seen = pipeline(2, [100, 100, 100], mode, sequence_s=1.0)
    first, other, third = seen.records.last_token_s
    assert first == third
    assert first == pytest.approx(100 * 3.0)
    assert other == pytest.approx(first + 1.5, abs=0.5)  # the last pass finds the stages empty


@EVERY_MODE
def test_a_second_request_fills_the_bubble_at_the_next_tick(
    mode: Literal["leap", "pass"],
) -> None:
    """It comes 2.6 s into the first, whose stages take 0.5 s: its lane has its turn at 3.5 s."""
    answers = np.array([20, 4])
    asked = Traffic(np.array([0.0, 2.6]), np.ones_like(answers), answers, 2)
    room = Limits(1, 64, 64, KvShape(100, 1), 1000, microbatches=2)
    cost = ConstantLanes(PASS_S, 2)
    records = simulate(asked, answers - 1, Autoregressive(), cost, room, mode=mode).records
    np.testing.assert_allclose(records.admitted_s, [0.0, 3.5])
    np.testing.assert_allclose(records.last_token_s, [20.0, 7.5])


def ranks(
    inputs: list[int], mode: Literal["leap", "pass"], blocks: int = 1000, sequence_s: float = 0.0
) -> Simulation:
    """Serve prompts of these lengths, ten tokens each, on two attention-data ranks."""
    prompts = np.array(inputs)
    answers = np.full_like(prompts, 10)
    asked = Traffic(np.zeros(len(prompts)), prompts, answers, len(prompts))
    room = Limits(1, 64, 10_000, KvShape(blocks, 1), 10_000, ranks=2)
    cost = ConstantLanes(PASS_S, 1, sequence_s)
    return simulate(asked, answers - 1, Autoregressive(), cost, room, mode=mode)


@EVERY_MODE
def test_ranks_wait_for_the_slowest(mode: Literal["leap", "pass"]) -> None:
    """Two requests on the first rank and one on the second: every pass takes 1 + 2 s."""
    seen = ranks([5, 5, 5], mode, sequence_s=1.0)
    np.testing.assert_allclose(seen.records.last_token_s, [30.0] * 3)


@EVERY_MODE
def test_no_request_may_use_the_kv_of_another_rank(mode: Literal["leap", "pass"]) -> None:
    """Of 100 blocks each rank has 50: 41 + 9 tokens fill them, 42 + 9 never fit."""
    seen = ranks([41, 42, 41], mode, blocks=100)
    refused = Status.REJECTED
    assert seen.records.status.tolist() == [Status.FINISHED, refused, Status.FINISHED]
    np.testing.assert_allclose(seen.records.last_token_s[[0, 2]], 10.0)
