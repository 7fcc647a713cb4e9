"""Reading curves at user speeds: winner, ratio, ties, regions."""

from collections.abc import Callable

import pytest

from sim.planning.curve import Best, best_of
from sim.planning.ladder import read_ladder, tie_band, winning_regions
from sim.planning.point import Point


def best(name: str, law: Callable[[float], float], speeds: tuple[float, ...]) -> Best:
    points = [
        Point(
            strategy=name,
            hardware="h100_sxm",
            tensor_parallel=2,
            replicas=1,
            requests_per_s=1.0,
            users=1,
            user_tokens_per_s=speed,
            output_tokens_per_s_per_gpu=law(speed),
            output_tokens_per_usd=1000 * law(speed),
            ttft_p99_s=None,
            max_gap_p99_s=None,
            status="ok",
        )
        for speed in speeds
    ]
    return best_of(name, points)


# They cross where 1000 / u = 10 / sqrt(u / 100), at u = 100.
STEEP = best("steep", lambda u: 1000 / u, (10, 150))
FLAT = best("flat", lambda u: 10 / (u / 100) ** 0.5, (10, 400))
BOTH = {"steep": STEEP, "flat": FLAT}


def test_the_winner_gives_the_most_at_that_speed() -> None:
    slow, fast, beyond = read_ladder(BOTH, "steep", (50, 150, 500))
    assert (slow.winner, fast.winner, beyond.winner) == ("steep", "flat", None)


def test_the_ratio_is_to_the_baseline_where_both_get_there() -> None:
    slow, beyond = read_ladder(BOTH, "steep", (25, 200))
    assert slow.ratio["flat"] == pytest.approx((10 / 0.5) / (1000 / 25))
    assert slow.ratio["steep"] == 1
    assert beyond.ratio == {"steep": None, "flat": None}
    assert beyond.output_tokens_per_s_per_gpu["steep"] is None


def test_tokens_per_usd_stand_beside_tokens_per_gpu() -> None:
    (rung,) = read_ladder(BOTH, "steep", (50,))
    assert rung.output_tokens_per_usd["steep"] == pytest.approx(20_000)
    assert rung.tensor_parallel == {"steep": 2, "flat": 2}


def test_a_lead_within_the_noise_is_a_tie() -> None:
    near, apart = read_ladder(BOTH, "steep", (97, 50))
    assert near.tied == ("flat",)
    assert apart.tied == ()


def test_the_ladder_leaves_out_what_nobody_reaches_and_what_everybody_exceeds() -> None:
    speeds = [rung.user_tokens_per_s for rung in read_ladder(BOTH, "steep")]
    assert speeds == [10, 20, 30, 50, 75, 100, 150, 200, 300]


def test_regions_meet_where_the_curves_cross() -> None:
    first, second = winning_regions(BOTH)
    assert (first.winner, second.winner) == ("steep", "flat")
    assert first.high == pytest.approx(100, rel=0.01)
    assert second.high == pytest.approx(400)


def test_without_any_point_that_counts_there_is_nothing_to_read() -> None:
    nothing = {"steep": best_of("steep", [])}
    assert winning_regions(nothing) == ()
    assert read_ladder(nothing, "steep") == ()


def test_short_runs_tie_at_leads_that_long_ones_tell_apart() -> None:
    # The lead at 93 tokens/s per user, between the 3 % of long runs and the 6 % of short ones.
    assert tie_band(300) == pytest.approx(0.0577, abs=0.0001)
    assert tie_band(100_000) == 0.03
    (rung,) = read_ladder(BOTH, "steep", (93,), tie=0.5)
    (close,) = read_ladder(BOTH, "steep", (93,), tie=0.0)
    assert rung.tied
    assert not close.tied
