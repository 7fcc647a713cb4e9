"""Running sums of what is capped, against adding up every member anew."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.reach import CappedSum, prompt_reads
from tests.engine.counting import chunk_pairs, chunk_read

pytestmark = pytest.mark.laws
GROWTH = st.sampled_from([0.0, 1 / 3, 1.0, 2.5])
STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 40), GROWTH, st.integers(1, 30)), max_size=30
)
"""Serial that joins or leaves, its value and growth, and the passes that go by then."""

Members = dict[int, tuple[float, float, int]]


def capped_sum(members: Members, cap: float, passes: int) -> float:
    return sum(min(value + growth * (passes - at), cap) for value, growth, at in members.values())


@given(steps=STEPS, cap=st.integers(1, 40))
def test_whoever_joins_leaves_and_comes_back_the_sum_is_that_of_its_members(
    steps: list[tuple[int, int, float, int]], cap: int
) -> None:
    """Passes go by up to the next crossing at most, as in a leap."""
    found, members, passes = CappedSum(), Members(), 0
    for serial, value, growth, wanted in steps:
        if members.pop(serial, None) is None:
            members[serial] = (float(value), growth, passes)
            found.join(serial, float(value), growth, float(cap), passes)
        else:
            found.leave(serial, passes)
        ahead = min(wanted, found.next_crossing() - passes)
        assert ahead >= 1
        for number in range(ahead):
            by_hand = capped_sum(members, cap, passes + number)
            assert found.value + number * found.growth == pytest.approx(by_hand)
        passes += ahead
        found.value += ahead * found.growth
        found.cross(passes)
        assert found.value == pytest.approx(capped_sum(members, cap, passes))
    found.recount(passes)
    assert found.value == pytest.approx(capped_sum(members, cap, passes))


def test_who_comes_back_in_the_middle_of_its_way_to_the_cap_is_capped_once() -> None:
    """Its way is the same as before, so both of its crossings fall on pass 7."""
    found = CappedSum()
    found.join(0, 3.0, 1.0, 10.0, 0)
    found.join(1, 0.0, 0.0, 10.0, 0)  # somebody stays
    found.value += 2 * found.growth
    found.leave(0, 2)
    found.join(0, 5.0, 1.0, 10.0, 2)
    assert found.next_crossing() == 7
    found.value += 5 * found.growth
    found.cross(7)
    assert (found.value, found.growth) == (10.0, 0.0)


@given(reach=st.integers(1, 60), chunk=st.integers(1, 60), before=st.integers(0, 60))
def test_a_prompt_chunk_reads_and_pairs_key_by_key(reach: int, chunk: int, before: int) -> None:
    read, pairs = prompt_reads(reach, chunk, before)
    assert read == chunk_read(chunk, before, reach)
    assert pairs == chunk_pairs(chunk, before, reach)


@given(reach=st.integers(1, 200), kv=st.integers(0, 300), queries=st.integers(1, 64))
def test_capping_the_pairs_of_a_chain_at_once_is_right_but_for_the_chain_in_the_corner(
    reach: int, kv: int, queries: int
) -> None:
    """Query i of a chain sees min(kv + i, reach) keys; the sum is capped as a whole."""
    exact = sum(min(kv + number + 1, reach) for number in range(queries))
    together = min(queries * kv + queries * (queries + 1) / 2, queries * reach)
    assert exact <= together <= exact + (queries + 1) ** 2 / 8
    if kv + queries <= reach or kv + 1 >= reach:
        assert together == exact


def test_a_member_that_leaves_and_joins_again_in_the_same_pass_is_capped_once() -> None:
    """As under a policy, which lays the rest of a request out anew: 8, then 9 at most."""
    total = CappedSum()
    total.join(1, 8.0, 2.0, 9.0, 5)
    total.leave(1, 5)
    total.join(1, 8.0, 1.5, 9.0, 5)  # it crosses in pass 6 either way
    total.join(2, 3.0, 0.5, 100.0, 5)
    total.value += total.growth
    total.cross(6)
    assert (total.value, total.growth) == (9.0 + 3.5, 0.5)
    before = total.value
    total.recount(6)
    assert total.value == before
