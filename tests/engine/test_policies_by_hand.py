"""Policies of the batch with schedulers and habits, worked out by hand: a pass takes a second.

Alone, a request verifies one draft that is always accepted: two tokens a pass. With another one
beside it, one token a pass.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Speculative
from sim.engine import Habits, Limits, simulate
from sim.engine.policies import Mode
from sim.engine.policies.off_above import OFF
from sim.engine.schedulers import (
    ChunkedPrefillSettings,
    DecodeFirstSettings,
    PrefillFirstSettings,
    SchedulerSettings,
    StaticBatchingSettings,
)
from sim.records import Simulation, Traffic
from tests.engine.agreement import MODES
from tests.laws.constant_pass import ConstantPass

BOTH = pytest.mark.parametrize("mode", MODES)
ALONE = Speculative.model_validate(
    {
        "draft_tokens": 1,
        "acceptance_rate": 1.0,
        "draft": {"kind": "ngram"},
        "policy": {"kind": "off_above", "sequences": 1},
    }
)
CHUNKED, PREFILL_FIRST = ChunkedPrefillSettings(), PrefillFirstSettings()


def served(
    mode: Literal["leap", "pass"], scheduler: SchedulerSettings, interval_tokens: int
) -> Simulation:
    """Serve 17 tokens from the beginning and 5 from 3.5 s on."""
    outputs = np.array([17, 5])
    asked = Traffic(np.array([0.0, 3.5]), np.ones(2, int), outputs, 2)
    habits = Habits(stream_interval_tokens=interval_tokens)
    room = Limits(1, 4, 100, KvShape(1000, 1), 1000, scheduler=scheduler, habits=habits)
    passes = (outputs - 1) // 2
    return simulate(asked, passes, ALONE, ConstantPass(1.0), room, mode=mode)


@BOTH
@pytest.mark.parametrize("interval_tokens", [1, 5])
@pytest.mark.parametrize(
    ("scheduler", "ends_s"),
    [
        # made until the end of each second: 1 3 5 7 9, both: 10 11 12 13, alone: 15 17
        (CHUNKED, [11, 9]),
        # 1 3 5 7, the other's prompt: 7, both: 8 9 10 11, alone: 13 15 17
        (PREFILL_FIRST, [12, 9]),
        (DecodeFirstSettings(refill_share=0.5), [12, 9]),
        # 1 3 5 7 9 11 13 15 17, then the other: 1 3 5
        (DecodeFirstSettings(refill_share=0.0), [9, 12]),
        (StaticBatchingSettings(), [9, 12]),
    ],
)
def test_who_is_alone_speculates_and_two_do_not_under_every_scheduler(
    mode: Literal["leap", "pass"],
    interval_tokens: int,
    scheduler: SchedulerSettings,
    ends_s: list[int],
) -> None:
    records = served(mode, scheduler, interval_tokens).records
    assert records.last_token_s.tolist() == ends_s


@BOTH
@pytest.mark.parametrize(
    ("scheduler", "seen_s"),
    [
        # five at 3; four held at 5, the fifth alone at 6; three at 9, two more at 10; the rest
        (CHUNKED, [3, 6, 10, 11]),
        # five at 3; two held, three more until 8; one held at 9, four more until 11; the rest
        (PREFILL_FIRST, [3, 8, 11, 12]),
    ],
)
def test_what_is_held_back_when_speculation_ends_goes_out_with_the_next_chunk(
    mode: Literal["leap", "pass"], scheduler: SchedulerSettings, seen_s: list[int]
) -> None:
    seen = served(mode, scheduler, 5)
    records = seen.records
    assert records.first_token_s.tolist() == [seen_s[0], 9]
    assert records.chunks.tolist() == [4, 1]
    assert records.max_gap_s[0] == max(np.diff(seen_s))
    assert sorted(seen.gaps.values) == sorted(np.diff(seen_s))


@BOTH
@pytest.mark.parametrize(
    ("scheduler", "seen_s"),
    [
        # alone a pass makes two: 1 2 3 4 5; with the other every second: 7 9; then 10 11
        (CHUNKED, [1, 2, 3, 4, 5, 7, 9, 10, 11]),
        (PREFILL_FIRST, [1, 2, 3, 4, 7, 9, 10, 11, 12]),
    ],
)
def test_an_answer_may_go_out_pass_by_pass_and_then_every_other_pass(
    mode: Literal["leap", "pass"], scheduler: SchedulerSettings, seen_s: list[int]
) -> None:
    seen = served(mode, scheduler, 2)
    records = seen.records
    assert records.first_token_s[0] == 1
    assert records.chunks.tolist() == [len(seen_s), 3]  # the other: its first at 5, then 7, 9
    assert records.max_gap_s.tolist() == [max(np.diff(seen_s)), 2]
    assert sorted(seen.gaps.values) == sorted([*np.diff(seen_s), 2, 2])


class Watchful:
    """A policy that remembers how many it was asked about."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def mode(self, sequences: int, read_tokens: float) -> Mode:
        self.asked.append(sequences)
        full = Mode(positions=2, accepted_share=1.0, verified_share=1.0, drafting=True)
        return OFF if sequences == 1 else full


@BOTH
@pytest.mark.parametrize("scheduler", [CHUNKED, PREFILL_FIRST])
def test_a_policy_is_asked_when_others_decode_and_not_when_they_stand_in_another_order(
    mode: Literal["leap", "pass"],
    scheduler: SchedulerSettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first, which goes on otherwise from when the second comes, stands behind it then."""
    policy = Watchful()
    build: Callable[..., Any] = lambda *_: policy  # noqa: E731
    monkeypatch.setattr("sim.engine.fleet.build", build)
    served(mode, scheduler, 1)
    assert policy.asked == [1, 2, 1]
