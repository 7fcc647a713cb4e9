"""Curves through points: interpolation along load, the better one across configurations."""

from itertools import pairwise
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.planning.curve import Best, best_of
from sim.planning.point import Point, PointStatus


def point(
    speed: float,
    per_gpu: float,
    *,
    tensor_parallel: int = 1,
    status: PointStatus = "ok",
    per_usd: float | None = None,
) -> Point:
    return Point(
        strategy="any",
        hardware="h100_sxm",
        tensor_parallel=tensor_parallel,
        replicas=1,
        requests_per_s=1.0,
        users=1,
        user_tokens_per_s=speed,
        output_tokens_per_s_per_gpu=per_gpu,
        output_tokens_per_usd=per_usd,
        ttft_p99_s=None,
        max_gap_p99_s=None,
        status=status,
    )


def best(*points: Point) -> Best:
    return best_of("any", points)


def power_law(speed: float) -> float:
    return float(5000 / speed**1.5)


def test_a_point_of_the_sweep_is_on_its_curve() -> None:
    found = best(point(10, 900), point(20, 400), point(40, 100))
    assert [found.at(speed) for speed in (10, 20, 40)] == [900, 400, 100]


def test_between_two_loads_the_curve_is_straight_on_logarithms() -> None:
    assert best(point(10, 900), point(40, 100)).at(20) == pytest.approx(sqrt(900 * 100))


@given(st.lists(st.floats(6, 99), max_size=8), st.floats(5, 100))
def test_two_grids_of_loads_on_one_curve_give_the_same_curve(
    grid: list[float], speed: float
) -> None:
    ends = [point(x, power_law(x)) for x in (5, 100)]
    refined = best(*ends, *(point(x, power_law(x)) for x in grid))
    assert refined.at(speed) == pytest.approx(best(*ends).at(speed))
    assert refined.at(speed) == pytest.approx(power_law(speed))


def test_slower_users_get_no_more_than_at_the_slowest_point() -> None:
    assert best(point(10, 900), point(40, 100)).at(1) == 900


def test_beyond_the_fastest_point_there_is_nothing() -> None:
    assert best(point(10, 900), point(40, 100)).at(40.1) is None


def test_a_point_that_another_one_beats_on_both_counts_is_left_out() -> None:
    # 11 tokens/s with 800: users at 12 are faster and the GPU does more.
    found = best(point(10, 900), point(11, 800), point(12, 850), point(40, 100))
    assert found.at(11) == pytest.approx(best(point(10, 900), point(12, 850)).at(11))


def test_throughput_that_falls_under_too_much_load_does_not_pull_the_curve_down() -> None:
    assert best(point(5, 700), point(10, 900), point(40, 100)).at(5) == 900


def test_points_that_miss_a_target_do_not_count() -> None:
    found = best(point(10, 900, status="misses target"), point(20, 400), point(40, 100))
    assert found.at(10) == 400
    assert best(point(10, 900, status="overloaded")).at(5) is None


def test_across_tensor_parallelism_the_better_one_is_taken_and_nothing_lies_between() -> None:
    narrow = [point(10, 900), point(30, 300)]
    wide = [point(20, 500, tensor_parallel=4), point(90, 100, tensor_parallel=4)]
    found = best(*narrow, *wide)
    assert found.at(10) == 900
    assert found.tensor_parallel_at(10) == 1
    assert found.at(30) == best(*wide).at(30)
    assert found.tensor_parallel_at(30) == 4
    # Between the fastest narrow point and the wide curve there is no configuration.
    assert found.at(31) == best(*wide).at(31)


def test_tokens_per_usd_are_read_off_like_tokens_per_gpu() -> None:
    found = best(point(10, 900, per_usd=90_000), point(40, 100, per_usd=10_000))
    assert found.per_usd_at(20) == pytest.approx(sqrt(90_000 * 10_000))
    assert best(point(10, 900)).per_usd_at(10) is None


@given(st.lists(st.floats(5, 100), min_size=1, max_size=9, unique=True))
def test_every_point_of_one_falling_curve_is_on_it(speeds: list[float]) -> None:
    points = [point(x, power_law(x)) for x in speeds]
    assert all(best(*points).holds(one) for one in points)


def test_a_better_width_makes_the_slowest_speed_that_of_the_highest_throughput() -> None:
    found = best(point(10, 600), point(30, 300), point(20, 700, tensor_parallel=4))
    assert found.slowest == 20
    assert found.at(5) == 700


def test_only_points_that_no_configuration_beats_are_on_the_best_curve() -> None:
    beaten, ahead = point(10, 600), point(20, 700, tensor_parallel=4)
    found = best(beaten, point(30, 300), ahead)
    assert found.holds(ahead)
    assert not found.holds(beaten)
    assert not found.holds(point(1000, 1, status="misses target"))


def test_the_drawn_line_passes_through_every_point_and_never_rises() -> None:
    found = best(point(10, 900), point(30, 300), point(20, 500, tensor_parallel=4))
    line = found.line()
    assert {(10, 900), (30, 300)} <= set(line)
    assert all(before[1] >= after[1] for before, after in pairwise(line))
    assert best().line() == []
