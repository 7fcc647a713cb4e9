"""The front end's work per pass, kept by numbers of like members, is the sum over the members."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.decoding import Phase, Plan
from sim.engine.batch import DecodeBatch
from sim.engine.habits import Habits
from sim.engine.handing_out import HandedOut, chunks_per_pass
from sim.engine.sequence import Sequence

CHUNK_S = 1 / 17_000
PHASES = [
    Phase(
        passes=passes,
        positions=1,
        logit_positions=1.0,
        kv_growth=1.0,
        read_extra=1.0,
        pair_extra=1.0,
        slots_extra=1.0,
        visible_tokens=visible,
        chunk_passes=every,
    )
    for passes, visible, every in ((10, 10, 1), (10, 10, 3), (7, 20, 1), (8, 0, 1))
]


def a_member(serial: int, phase: Phase) -> Sequence:
    sequence = Sequence(serial, -1, 0.0, Plan(5, prefill_yields=True, phases=(phase,)))
    sequence.serial = serial
    return sequence


def one_by_one_s(habits: Habits, batch: DecodeBatch) -> float:
    work_s = 0.0
    for sequence in batch.members.values():
        work_s += chunks_per_pass(habits, sequence.phase) * habits.front_end_s_per_chunk
    return work_s


@pytest.mark.parametrize("interval", [1, 10])
@given(steps=st.lists(st.tuples(st.booleans(), st.integers(0, 9)), max_size=40))
def test_the_work_of_a_pass_is_that_of_its_members_added_up_to_the_bit(
    interval: int, steps: list[tuple[bool, int]]
) -> None:
    habits = Habits(front_end_s_per_chunk=CHUNK_S, stream_interval_tokens=interval)
    batch = DecodeBatch()
    handed_out = batch.handed_out = HandedOut(habits, batch.members)
    for serial, (leaves, number) in enumerate(steps):
        if leaves and batch.members:
            gone = list(batch.members.values())[number % len(batch.members)]
            assert gone.phase is not None
            batch.leave(gone, gone.phase, 0)
        else:  # most are alike
            phase = PHASES[max(0, number - 6)]
            batch.join(a_member(serial, phase), phase, 0)
        assert handed_out.total_s == one_by_one_s(habits, batch)


def test_answers_by_the_token_from_sixty_sequences_take_sixty_pieces_of_work() -> None:
    habits, batch = Habits(front_end_s_per_chunk=0.25), DecodeBatch()
    batch.handed_out = handed_out = HandedOut(habits, batch.members)
    for serial in range(60):
        batch.join(a_member(serial, PHASES[0]), PHASES[0], 0)
    assert handed_out.total_s == 15.0
