"""Schedulers and habits against times that are worked out by hand: a pass takes a second."""

from math import inf
from typing import Any, Literal

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Habits, Limits, simulate
from sim.engine.schedulers import (
    ChunkedPrefillSettings,
    DecodeFirstSettings,
    PrefillFirstSettings,
    StaticBatchingSettings,
)
from sim.records import RequestRecords, Simulation, Traffic
from tests.engine.agreement import MODES
from tests.laws.constant_pass import ConstantPass

PASS_S = 1.0
BOTH = pytest.mark.parametrize("mode", MODES)
Mode = Literal["leap", "pass"]


def served(
    rows: list[tuple[float, int, int]],
    mode: Mode,
    *,
    users: int | None = None,
    priority: list[int] | None = None,
    request_class: list[int] | None = None,
    **limits: Any,
) -> Simulation:
    """Serve (arrival s, prompt, answer); a pass takes a second whatever it holds."""
    arrival_s, inputs, outputs = (np.array(column) for column in zip(*rows, strict=True))
    alike = [0] * len(rows)
    traffic = Traffic(
        arrival_s.astype(float) if users is None else np.zeros(len(rows)),
        inputs,
        outputs,
        measured=len(rows),
        users=users,
        priority=np.array(priority or alike),
        request_class=np.array(request_class or alike),
    )
    sizes: dict[str, Any] = {
        "replicas": 1,
        "max_sequences": 64,
        "max_batched_tokens": 100,
        "kv": KvShape(10_000, 1),
        "max_context_tokens": 10_000,
    }
    cost = ConstantPass(PASS_S)
    room = Limits(**{**sizes, **limits})
    return simulate(traffic, outputs - 1, Autoregressive(), cost, room, mode=mode)


def records(*args: Any, **options: Any) -> RequestRecords:
    return served(*args, **options).records


@BOTH
def test_an_interval_of_four_tokens_shows_the_fourth_the_eighth_and_the_last(mode: Mode) -> None:
    seen = served([(0, 1, 10)], mode, habits=Habits(stream_interval_tokens=4))
    assert seen.records.first_token_s.tolist() == [4.0]
    assert seen.records.last_token_s.tolist() == [10.0]
    assert seen.records.chunks.tolist() == [3]
    assert seen.records.max_gap_s.tolist() == [4.0]
    assert sorted(seen.gaps.values) == [2.0, 4.0]  # 4 -> 8 -> 10


@BOTH
def test_an_interval_may_show_the_first_token_at_once(mode: Mode) -> None:
    habits = Habits(stream_interval_tokens=4, stream_first_token=True)
    seen = served([(0, 1, 10)], mode, habits=habits)
    assert seen.records.first_token_s.tolist() == [1.0]
    assert sorted(seen.gaps.values) == [1.0, 4.0, 4.0]  # 1 -> 5 -> 9 -> 10


@BOTH
def test_a_front_end_that_is_too_slow_sets_the_pace_and_the_answers_wait_for_it(
    mode: Mode,
) -> None:
    """Ten users, a pass a second, 0.2 s a token: passes make two seconds of work each."""
    rows = [(0.0, 1, 5)] * 10
    seen = served(rows, mode, users=10, habits=Habits(front_end_s_per_chunk=0.2))
    # first tokens: made at 1, handed out by 3; then the backlog: 10 tokens each 2 s
    assert seen.records.first_token_s == pytest.approx(np.full(10, 3.0))
    assert seen.records.last_token_s == pytest.approx(np.full(10, 11.0))
    assert seen.records.max_gap_s == pytest.approx(np.full(10, 2.0))


@BOTH
def test_a_user_of_a_slow_front_end_asks_again_only_when_the_answer_is_seen(mode: Mode) -> None:
    rows = [(0.0, 1, 2)] * 2
    told = records(rows, mode, users=1, habits=Habits(front_end_s_per_chunk=3.0))
    # tokens made at 1 and 2, seen at 4 and 7; the second prompt comes at 7
    assert told.last_token_s == pytest.approx([7.0, 14.0])
    assert told.arrival_s == pytest.approx([0.0, 7.0])


@BOTH
def test_prompts_are_held_so_many_passes_while_others_decode(mode: Mode) -> None:
    rows = [(0.0, 1, 50), (10.5, 1, 5), (12.5, 1, 5)]
    told = records(rows, mode, habits=Habits(hold_passes=4))
    # the second could go in at 11 and is held for four passes; the third goes in with it
    assert told.admitted_s.tolist() == [0.0, 15.0, 15.0]


@BOTH
def test_enough_tokens_end_the_holding(mode: Mode) -> None:
    rows = [(0.0, 1, 50), (10.5, 10, 5), (12.5, 90, 5)]
    told = records(rows, mode, habits=Habits(hold_passes=40, hold_token_share=0.5))
    assert told.admitted_s.tolist() == [0.0, 13.0, 13.0]


@BOTH
def test_nobody_is_held_on_an_idle_replica(mode: Mode) -> None:
    told = records([(0.0, 1, 5)], mode, habits=Habits(hold_passes=4, pick_up_passes=4))
    assert told.admitted_s.tolist() == [0.0]


@BOTH
def test_a_prompt_is_picked_up_so_many_passes_late(mode: Mode) -> None:
    told = records([(0.0, 1, 50), (10.5, 1, 5)], mode, habits=Habits(pick_up_passes=3))
    assert told.admitted_s.tolist() == [0.0, 14.0]


@BOTH
def test_the_engine_looks_for_prompts_every_so_many_passes_and_after_each_with_prompts(
    mode: Mode,
) -> None:
    """The prompt's pass ends at 1: it looks at 1, 5, 9, 13 and, 13 having let one in, at 14."""
    rows = [(0.0, 1, 50), (10.5, 1, 50), (13.5, 1, 50), (14.5, 1, 5)]
    told = records(rows, mode, habits=Habits(pick_up_every_passes=4))
    assert told.admitted_s.tolist() == [0.0, 13.0, 14.0, 15.0]
    # Seen a pass late besides: the third and the fourth may be seen at 15 and 16, so it looks for
    # the third at 14 + 4, and for the fourth, which has come by then, with it.
    late = records(rows, mode, habits=Habits(pick_up_every_passes=4, pick_up_passes=1))
    assert late.admitted_s.tolist() == [0.0, 13.0, 18.0, 18.0]


@BOTH
def test_an_offset_before_the_engine_delays_all_and_the_closed_loop_too(mode: Mode) -> None:
    told = records([(0.0, 1, 2)] * 2, mode, users=1, habits=Habits(ingress_s=0.25))
    assert told.arrival_s.tolist() == [0.0, 2.25]
    assert told.last_token_s.tolist() == [2.25, 4.5]


@BOTH
def test_prompts_are_tokenised_one_after_another(mode: Mode) -> None:
    """0.2 s a token, 8 tokens: all at once are seen at 1.6, 3.2 and 4.8 s.

    Passes end at 2.6, 3.6, 4.6, 5.6: the second is let in at 3.6, the third at 5.6.
    """
    told = records([(0.0, 8, 3)] * 3, mode, users=3, habits=Habits(ingress_s_per_token=0.2))
    assert told.arrival_s.tolist() == [0, 0, 0]
    assert told.admitted_s == pytest.approx([1.6, 3.6, 5.6], rel=1e-12)


@BOTH
def test_each_replica_tokenises_its_own_prompts(mode: Mode) -> None:
    """Two replicas, four prompts of 1.6 s at once: two are seen at 1.6, two at 3.2 s."""
    habits = Habits(ingress_s_per_token=0.2)
    told = records([(0.0, 8, 1)] * 4, mode, replicas=2, habits=habits)
    assert told.admitted_s == pytest.approx([1.6, 1.6, 3.2, 3.2], rel=1e-12)


@BOTH
def test_nobody_waits_for_the_tokeniser_of_another_replica(mode: Mode) -> None:
    """0.125 s a token: 80 tokens keep the first replica's for 10 s; the second has one token,
    which came at 1, at 1.125 s. The third prompt is the first replica's: 10.125 s."""
    rows, habits = [(0.0, 80, 1), (1.0, 1, 1), (2.0, 1, 1)], Habits(ingress_s_per_token=0.125)
    told = records(rows, mode, replicas=2, habits=habits)
    assert told.admitted_s[1] == pytest.approx(1.125, rel=1e-12)
    assert told.admitted_s[0] == pytest.approx(10.0, rel=1e-12)
    assert told.admitted_s[2] > told.admitted_s[0]


@BOTH
def test_a_short_prompt_waits_until_a_long_one_before_it_is_tokenised(mode: Mode) -> None:
    """0.125 s a token: 8 tokens are seen at 1.0, one token that came at 0.5 at 1.125.

    The pass that begins at 1 ends at 2.
    """
    rows, habits = [(0.0, 8, 1), (0.5, 1, 1)], Habits(ingress_s_per_token=0.125)
    told = records(rows, mode, habits=habits)
    assert told.arrival_s.tolist() == [0.0, 0.5]
    assert told.admitted_s.tolist() == [1.0, 2.0]


@BOTH
def test_room_for_the_whole_answer_admits_fewer_and_preempts_nobody(mode: Mode) -> None:
    """30 blocks; each request grows to 1 + 14 tokens: two fit whole, on demand all three start."""
    rows, pool = [(0.0, 1, 15)] * 3, KvShape(30, 1)
    eager = records(rows, mode, kv=pool)
    sure = records(rows, mode, kv=pool, habits=Habits(whole_answer=True))
    assert eager.admitted_s.tolist() == [0, 0, 0]
    assert eager.preemptions.sum() > 0
    assert sure.admitted_s.tolist() == [0, 0, 15]
    assert sure.preemptions.sum() == 0


@BOTH
def test_prefill_first_lets_those_who_decode_stand_still(mode: Mode) -> None:
    """A prompt of 250 tokens takes three passes of a budget of 100: a gap of four."""
    rows = [(0.0, 1, 10), (3.5, 250, 1)]
    mixed = records(rows, mode)
    first = records(rows, mode, scheduler=PrefillFirstSettings())
    assert mixed.last_token_s.tolist() == [10.0, 7.0]
    assert mixed.max_gap_s.tolist()[0] == 1.0
    assert first.last_token_s.tolist() == [13.0, 7.0]
    assert first.max_gap_s.tolist()[0] == 4.0


@BOTH
def test_decode_first_waits_until_few_are_left(mode: Mode) -> None:
    rows = [(0.0, 1, 5), (0.0, 1, 10), (1.5, 1, 1)]
    settings = DecodeFirstSettings(refill_share=0.25)
    told = records(rows, mode, max_sequences=4, scheduler=settings)
    # one of two has ended at 5: then the prompt, and the other stands still for a pass
    assert told.admitted_s.tolist() == [0, 0, 5]
    assert told.last_token_s.tolist() == [5, 11, 6]


@BOTH
def test_static_batching_answers_one_batch_after_the_other(mode: Mode) -> None:
    rows = [(0.0, 1, 5), (0.0, 1, 10), (1.5, 1, 1)]
    told = records(rows, mode, scheduler=StaticBatchingSettings())
    assert told.admitted_s.tolist() == [0, 0, 10]


@BOTH
def test_the_order_decides_who_takes_the_free_place(mode: Mode) -> None:
    rows = [(0.0, 1, 5), (1.0, 90, 5), (2.0, 10, 5), (3.0, 50, 5)]
    classes = [1, 2, 1, 0]

    def turns(**settings: Any) -> list[int]:
        scheduler = ChunkedPrefillSettings(**settings)
        told = records(rows, mode, max_sequences=1, priority=classes, scheduler=scheduler)
        order: list[int] = np.argsort(told.admitted_s).tolist()
        return order

    assert turns() == [0, 1, 2, 3]
    assert turns(order="priority") == [0, 3, 2, 1]
    assert turns(order="priority", ageing_s=0.9) == [0, 1, 2, 3]
    assert turns(order="shortest_prompt") == [0, 2, 3, 1]


@BOTH
def test_classes_share_the_tokens_fairly_and_nobody_starves(mode: Mode) -> None:
    """Forty of class 0 wait from the start; the two of class 1 go in at once, one in two."""
    rows = [(0.0, 1, 4)] * 40 + [(0.0, 1, 4)] * 2
    number = [0] * 40 + [1] * 2
    fair = ChunkedPrefillSettings(order="fair")
    told = records(rows, mode, max_sequences=1, request_class=number, scheduler=fair)
    assert sorted(np.argsort(told.admitted_s).tolist().index(row) for row in (40, 41)) == [1, 3]
    weighted = ChunkedPrefillSettings(order="fair", class_weights=(3.0, 1.0))
    told = records(rows, mode, max_sequences=1, request_class=number, scheduler=weighted)
    assert sorted(np.argsort(told.admitted_s).tolist().index(row) for row in (40, 41)) == [1, 5]


@BOTH
def test_caps_on_prompts_keep_passes_small(mode: Mode) -> None:
    rows = [(0.0, 20, 1)] * 4
    assert records(rows, mode).last_token_s.tolist() == [1, 1, 1, 1]
    few = ChunkedPrefillSettings(max_prompts_per_pass=1)
    assert records(rows, mode, scheduler=few).last_token_s.tolist() == [1, 2, 3, 4]
    small = ChunkedPrefillSettings(max_prefill_tokens_per_pass=10)
    assert records(rows, mode, scheduler=small).last_token_s.tolist() == [2, 4, 6, 8]


@BOTH
def test_swapped_kv_takes_time_out_and_in_and_nothing_is_computed_twice(mode: Mode) -> None:
    """10 blocks, two of 1 + 7 tokens: at 5 tokens each the pool is full, the second gives way.

    Its 5 blocks go out at 0.1 s each before the pass that starts at 5, and come back before the
    pass that starts when the first has ended; it then needs its last three passes.
    """
    swap = ChunkedPrefillSettings(preemption="swap")
    told = records(
        [(0.0, 1, 8)] * 2, mode, kv=KvShape(10, 1), scheduler=swap, swap_s_per_block=0.1
    )
    assert told.preemptions.tolist() == [0, 1]
    # held after pass n: n tokens and the one to come; n = 5 wants 12 of 10
    assert told.last_token_s == pytest.approx([8.5, 12.0])
    assert told.max_gap_s == pytest.approx([1.5, 5.0])


@BOTH
def test_the_least_urgent_gives_way(mode: Mode) -> None:
    urgent = ChunkedPrefillSettings(order="priority")
    told = records([(0.0, 1, 8)] * 2, mode, kv=KvShape(10, 1), scheduler=urgent, priority=[1, 0])
    assert told.preemptions.tolist() == [1, 0]
    assert told.last_token_s[1] == 8.0


@BOTH
def test_a_prompt_that_never_fits_is_refused_with_its_reason_and_stops_nobody(mode: Mode) -> None:
    seen = served([(0.0, 100, 1), (0.0, 5, 2)], mode, kv=KvShape(50, 1))
    assert seen.rejections == (
        ("prompt and answer need more KV than the 50 tokens of a replica's pool", 1),
    )
    assert seen.records.last_token_s.tolist()[1] == 2.0
    assert np.isnan(seen.records.last_token_s[0])


@BOTH
@pytest.mark.parametrize("preemption", ["recompute", "swap"])
@pytest.mark.parametrize(
    "kind",
    [ChunkedPrefillSettings, PrefillFirstSettings, DecodeFirstSettings, StaticBatchingSettings],
)
def test_a_pool_of_one_answer_under_a_crowd_never_stops(
    mode: Mode, preemption: Any, kind: Any
) -> None:
    """No livelock: every answer is finished although the pool holds only one at full length."""
    rows = [(0.1 * number, 7, 13) for number in range(12)]
    scheduler = kind(preemption=preemption, order="priority")
    told = records(
        rows,
        mode,
        kv=KvShape(20, 1),
        scheduler=scheduler,
        priority=[number % 3 for number in range(12)],
        swap_s_per_block=0.01,
    )
    assert np.isfinite(told.last_token_s).all()
    assert told.last_token_s.max() < inf
