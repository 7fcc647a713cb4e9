"""The inverse of a cumulative rate, as a law over any course of rates."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.records import FloatArray
from sim.workload.rate_curve import RateCurve

pieces = st.lists(
    st.tuples(
        st.floats(0.01, 1e4),
        st.sampled_from([0.0, 0.5, 3.0, 700.0]) | st.floats(1e-3, 1e3),
        st.sampled_from([0.0, 0.5, 3.0, 700.0]) | st.floats(1e-3, 1e3),
    ),
    min_size=1,
    max_size=6,
)


def cumulative(curve: RateCurve, time_s: float) -> float:
    """Mean number of arrivals until a time, piece by piece."""
    total, lasting = 0.0, list(zip(curve.lasting_s, curve.left, curve.right, strict=True))
    while True:
        for length, left, right in lasting:
            inside = min(time_s, length)
            total += left * inside + (right - left) / length * inside * inside / 2
            time_s -= inside
            if time_s <= 0:
                return float(total)
        if not curve.repeats:
            return float(total + time_s * curve.right[-1])


@given(pieces, st.booleans(), st.lists(st.floats(1e-3, 30), min_size=1, max_size=20))
def test_as_many_have_come_by_each_time_as_were_asked_for(
    parts: list[tuple[float, float, float]],
    repeats: bool,
    gaps: list[float],
) -> None:
    assume(any(left + right for _, left, right in parts))
    curve = RateCurve.of(*np.array(parts).T, repeats=repeats)
    units: FloatArray = np.cumsum(gaps) * (curve.requests / 40)
    times = curve.times_s(units)
    assert np.all(times[1:] >= times[:-1])  # inf: never
    for unit, time_s in zip(units, times, strict=True):
        if np.isinf(time_s):
            assert curve.right[-1] == 0
            assert unit > curve.requests
        else:
            assert cumulative(curve, time_s) == pytest.approx(unit, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("repeats", [False, True])
def test_nothing_comes_before_the_rate_begins(repeats: bool) -> None:
    curve = RateCurve.of([5, 5], [0, 2], [0, 2], repeats=repeats)
    assert curve.times_s(np.array([0.0, 1.0, 10.0])).tolist() == [5.0, 5.5, 10.0]


def test_the_worst_stretch_of_steps_is_the_one_in_which_most_come_beyond_the_rate() -> None:
    curve = RateCurve.of([60, 60, 60], [2, 10, 20], [2, 10, 20], repeats=False)
    worst = curve.worst_above(4, until_s=1000)
    assert worst is not None
    # 6 more a second for 60 s, then 16 more for all that follows, since the last rate goes on
    assert (worst.from_s, worst.to_s, worst.peak_requests_per_s) == (60, 1000, 20)
    assert worst.excess == pytest.approx(60 * 6 + (1000 - 120) * 16)
    assert curve.worst_above(20, until_s=1000) is None
    assert curve.worst_above(4, until_s=50) is None


def test_a_ramp_is_too_much_from_where_it_crosses_the_rate() -> None:
    curve = RateCurve.of([100], [0], [10], repeats=False)
    worst = curve.worst_above(4, until_s=90)
    assert worst is not None
    assert (worst.from_s, worst.to_s) == pytest.approx((40, 90))
    assert worst.peak_requests_per_s == pytest.approx(9)
    assert worst.excess == pytest.approx(50 * 5 / 2)  # a triangle of 50 s and 5 requests/s


def test_a_peak_over_two_pieces_and_the_turn_of_a_course_is_one_stretch() -> None:
    # up in the last piece of each day, down in the first one of the next
    curve = RateCurve.of([10, 10], [10, 0], [0, 10], repeats=True)
    worst = curve.worst_above(5, until_s=40)
    assert worst is not None
    assert (worst.from_s, worst.to_s) == pytest.approx((15, 25))
    assert worst.peak_requests_per_s == 10
