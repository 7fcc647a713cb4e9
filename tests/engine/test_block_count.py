"""Counting blocks by their place in a block gives what adding up one sequence at a time gives."""

from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from sim.cost import KvShape
from sim.decoding import Phase, Plan
from sim.engine.batch import DecodeBatch
from sim.engine.block_count import BlockCount
from sim.engine.kv_pool import ReservingPool
from sim.engine.sequence import Sequence

PASSES = 400


def decoding(serial: int, kv: int, growth: float, slots: float, joined: int) -> Sequence:
    phase = Phase(
        passes=PASSES,
        positions=1,
        logit_positions=1.0,
        kv_growth=growth,
        read_extra=1.0,
        pair_extra=1.0,
        slots_extra=slots,
        chunk_passes=1,
        visible_tokens=PASSES,
    )
    sequence = Sequence(serial, -1, 0.0, Plan(kv, prefill_yields=True, phases=(phase,)))
    sequence.serial, sequence.joined = serial, joined
    return sequence


members = st.tuples(
    st.integers(0, 5000),
    st.sampled_from([1.0, 1.0, 1.0, 2.4, 0.0]),
    st.sampled_from([1.0, 0.0, 3.0, 2.5]),
    st.integers(0, 200),
    st.booleans(),
)


@given(
    rows=st.lists(members, max_size=30),
    size=st.sampled_from([1, 16, 7]),
    later=st.integers(0, PASSES),
    window=st.sampled_from([None, 128]),
    own=st.sampled_from([0.0, 3.0]),
)
def test_blocks_by_place_are_those_of_each_sequence_added_up(
    rows: list[tuple[int, float, float, int, bool]],
    size: int,
    later: int,
    window: int | None,
    own: float,
) -> None:
    shape = KvShape(
        blocks=10**9,
        block_tokens=size,
        full=1.0 if window is None else 0.5,
        windows=() if window is None else ((window, 0.5),),
        sequence_blocks=own,
    )
    all_of_them = [decoding(i, *row[:4]) for i, row in enumerate(rows)]
    half = len(all_of_them) // 2
    count = BlockCount(shape, all_of_them[:half])
    for sequence in all_of_them[half:]:
        count.join(sequence)
    staying: list[Sequence] = []
    for sequence, row in zip(all_of_them, rows, strict=True):
        if row[4]:
            count.leave(sequence)
        else:
            staying.append(sequence)
    passes, expected = 200 + later, 0.0
    for sequence in staying:
        kv, growth, slots, joined, _ = rows[sequence.serial]
        tokens = kv + growth * (passes - joined) + slots
        expected += own + shape.full * ceil((tokens - 1e-6) / size)
        if window is not None:
            expected += 0.5 * ceil((min(tokens, window) - 1e-6) / size)
    assert abs(count.used(passes) - expected) < 1e-6 * max(1.0, expected)


@given(
    rows=st.lists(st.tuples(st.integers(0, 5000), st.booleans()), max_size=30),
    asked=st.integers(0, 30),
    size=st.sampled_from([1, 16, 7]),
)
def test_reserved_blocks_are_those_of_the_whole_answers_of_all_who_decode(
    rows: list[tuple[int, bool]], asked: int, size: int
) -> None:
    """An answer of 400 passes, a token each, holds prompt + 400 tokens in its last pass."""
    pool, batch = ReservingPool(KvShape(blocks=10**9, block_tokens=size)), DecodeBatch()
    staying: list[int] = []
    for serial, (prompt, stays) in enumerate(rows):
        if serial == asked:
            pool.least_free(batch)  # from here on it is kept up to date
        sequence = decoding(serial, prompt, 1.0, 1.0, 0)
        assert sequence.phase is not None
        batch.join(sequence, sequence.phase, 0)
        if stays:
            staying.append(ceil((prompt + PASSES) / size))
        else:
            batch.leave(sequence, sequence.phase, 0)
    assert pool.least_free(batch) == 10**9 - sum(staying)
