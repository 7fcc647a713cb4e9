"""Counts to seconds, by hand."""

from math import inf, log2

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.cost.collectives import all_reduce_s
from sim.cost.roofline import smooth_roofline_s
from sim.hardware import AllReduceFit

AMOUNTS = st.floats(0, 1e15)


def seconds(flop: float, moved: float, p: float, fixed_s: float = 0.0) -> float:
    return float(
        smooth_roofline_s(
            flop=flop, bytes_moved=moved, flop_per_s=1e12, bytes_per_s=1e9, fixed_s=fixed_s, p=p
        )
    )


@pytest.mark.parametrize("p", [1.0, 1.4, 2.4, 4.0, 300.0])
def test_a_work_that_is_only_flop_or_only_bytes_is_not_rounded(p: float) -> None:
    assert seconds(3e12, 0, p) == pytest.approx(3.0, rel=1e-12)
    assert seconds(0, 5e9, p) == pytest.approx(5.0, rel=1e-12)
    assert seconds(0, 5e9, p, fixed_s=2e-6) == pytest.approx(5.000002, rel=1e-12)


def test_the_norm_decides_how_the_two_times_join() -> None:
    assert seconds(3e12, 4e9, p=1) == pytest.approx(7.0)  # one after the other
    assert seconds(3e12, 4e9, p=2) == pytest.approx(5.0)  # Pythagoras
    assert seconds(3e12, 4e9, p=500) == pytest.approx(4.0)  # the longer


@pytest.mark.parametrize("p", [1.4, 2.4, 4.0])
def test_at_the_ridge_the_corner_costs_the_pth_root_of_two(p: float) -> None:
    assert log2(seconds(1e12, 1e9, p)) == pytest.approx(1 / p)


@given(flop=AMOUNTS, moved=AMOUNTS, p=st.floats(1, 100))
def test_a_rounded_roofline_lies_between_the_longer_and_the_sum(
    flop: float, moved: float, p: float
) -> None:
    assume(flop + moved > 1.0)  # something must be done
    longer, total = max(flop / 1e12, moved / 1e9), flop / 1e12 + moved / 1e9
    assert longer * (1 - 1e-12) <= seconds(flop, moved, p) <= total * (1 + 1e-12) < inf


FIT = AllReduceFit(fixed_s=5e-6, per_extra_rank_s=2e-7, bandwidth_efficiency=0.6)


def reduce_s(ranks: int, tensor_bytes: float) -> float:
    return float(all_reduce_s(tensor_bytes, ranks, fit=FIT, link_bytes_per_s=450e9))


def test_one_rank_has_nothing_to_reduce() -> None:
    assert reduce_s(1, 1e9) == 0.0


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_an_all_reduce_waits_its_latency_and_sends_nearly_twice_the_tensor(ranks: int) -> None:
    """Ring: each rank sends and receives 2 (n - 1) / n of the tensor (Patarasuk and Yuan 2009)."""
    moved = 2 * (ranks - 1) / ranks * 27e6
    by_hand = 5e-6 + 0.2e-6 * (ranks - 2) + moved / (0.6 * 450e9)
    assert reduce_s(ranks, 27e6) == pytest.approx(by_hand, rel=1e-12)
    assert reduce_s(2, 27e6) == pytest.approx(105e-6, rel=1e-3)  # 27 MB at 270 GB/s is 100 us
