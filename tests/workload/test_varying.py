"""Arrivals whose rate changes, against theory; tolerances are four standard errors or more."""

from typing import Any

import numpy as np
import pytest

from sim.errors import InputError
from sim.records import FloatArray
from sim.workload import Bursts, Diurnal, Ramp, Rates, Workload, stream
from sim.workload.varying import Step
from sim.yaml_files import validate

DAY_S = 86_400
LENGTHS: dict[str, Any] = {
    "input_tokens": {"kind": "fixed", "tokens": 10},
    "output_tokens": {"kind": "fixed", "tokens": 10},
}


def times_of(process: Any, count: int, seed: int = 0) -> FloatArray:
    times: FloatArray = process.times_s(count, stream(seed, "arrivals"))
    return times


def steps(*pairs: tuple[float, float]) -> tuple[Step, ...]:
    return tuple(Step(for_s=for_s, requests_per_s=rate) for for_s, rate in pairs)


def keys(*pairs: tuple[float, float]) -> list[dict[str, float]]:
    return [{"for_s": for_s, "requests_per_s": rate} for for_s, rate in pairs]


def near(counts: FloatArray, means: FloatArray, slack: float = 0.0) -> bool:
    """Poisson counts within 4.5 standard deviations of their means (1 in 100,000 is not)."""
    return bool(np.all(np.abs(counts - means) <= 4.5 * np.sqrt(means) + slack * means))


def test_evenly_spaced_arrivals_step_over_a_time_without_any() -> None:
    """1/s for 2 s, nothing for 3 s, then 2/s: by hand."""
    rates = Rates(steps=steps((2, 1), (3, 0), (10, 2)), cv=0)
    assert times_of(rates, 6).tolist() == [1.0, 2.0, 5.5, 6.0, 6.5, 7.0]


def test_evenly_spaced_arrivals_of_a_course_that_repeats() -> None:
    rates = Rates(steps=steps((2, 1), (3, 0)), repeat=True, cv=0)
    assert times_of(rates, 6).tolist() == [1.0, 2.0, 6.0, 7.0, 11.0, 12.0]


def test_evenly_spaced_arrivals_of_a_ramp_follow_the_square_root() -> None:
    """From 0 to 8/s in 4 s: t^2 requests until t, and 8/s from then on."""
    ramp = Ramp(from_requests_per_s=0, to_requests_per_s=8, over_s=4, cv=0)
    expected = [*np.sqrt(np.arange(1, 17)), 4.125, 4.25]
    np.testing.assert_allclose(times_of(ramp, 18), expected, rtol=1e-12)


@pytest.mark.truth
def test_steps_have_their_own_rates_and_nothing_comes_at_rate_0() -> None:
    rates = Rates(steps=steps((100, 50), (50, 0), (100, 200), (30, 5)), repeat=True)
    times = times_of(rates, 100_000)
    rounds = int(times[-1] // 280)
    inside = times[times < rounds * 280] % 280
    counts = np.histogram(inside, bins=[0, 100, 150, 250, 280])[0]
    assert counts[1] == 0
    assert near(counts.astype(float), rounds * np.array([5_000, 0, 20_000, 150.0]))


@pytest.mark.truth
def test_straight_rates_go_from_one_to_the_next() -> None:
    """From 10/s to 30/s in 1,000 s, and back: n(t) = 10 t + t^2 / 100."""
    rates = Rates(steps=steps((1_000, 10), (1_000, 30)), straight=True, repeat=True)
    times = times_of(rates, 200_000)
    folded = times[times < 8_000] % 2_000  # four rounds
    first = np.histogram(folded, bins=[0, 250, 500, 750, 1_000])[0].astype(float)
    edges = np.array([0, 250, 500, 750, 1_000.0])
    assert near(first, 4 * np.diff(10 * edges + edges**2 / 100))


@pytest.mark.truth
@pytest.mark.parametrize("start_hour", [0, 9])
def test_a_day_follows_its_cosine_hour_by_hour(start_hour: int) -> None:
    day = Diurnal(requests_per_s=5, swing=0.8, peak_hour=15, start_hour=start_hour)
    times = times_of(day, 1_500_000)
    days = int(times[-1] // DAY_S)
    counts = np.histogram(times[times < days * DAY_S] % DAY_S, bins=24, range=(0, DAY_S))[0]
    edges = 2 * np.pi * (np.arange(25) + start_hour - 15) / 24
    means = 5 * 3_600 * days * (1 + 0.8 * np.diff(np.sin(edges)) * 24 / (2 * np.pi))
    assert days == 3
    # straight pieces of a quarter of an hour lie 0.05 % of the swing off the cosine at most
    assert near(counts.astype(float), means, slack=0.0005)


@pytest.mark.truth
def test_a_week_has_busy_days_quiet_ones_and_hours_without_anything() -> None:
    hours = (*[0.0] * 8, *[2.0] * 4, *[1.0] * 4, *[0.0] * 8)
    days = (1, 1, 1, 1, 1, 0.5, 0)
    week = Diurnal(requests_per_s=1, hours=hours, days=days)
    times = times_of(week, 700_000)
    assert times[-1] > 7 * DAY_S
    counts = np.histogram(times[times < 7 * DAY_S], bins=168, range=(0, 7 * DAY_S))[0]
    shape = np.outer(days, hours).ravel()
    assert near(counts.astype(float), shape / shape.sum() * 7 * DAY_S)
    assert counts[shape == 0].sum() == 0


@pytest.mark.truth
@pytest.mark.parametrize("random", [False, True])
def test_bursts_keep_the_mean_rate_and_their_own(random: bool) -> None:
    process = Bursts(requests_per_s=20, factor=10, every_s=50, lasting_s=5, random=random)
    times = times_of(process, 400_000, seed=1)
    # bursts at random times: as many 5 s bursts as fit add a spread of their own
    cycles = times[-1] / 50
    share_in_bursts = 10 * 0.1 / (0.9 + 10 * 0.1)
    extra = share_in_bursts * 0.9 / np.sqrt(cycles) if random else 0.0
    assert abs(400_000 / times[-1] / 20 - 1) < 4 * (1 / np.sqrt(400_000) + extra)
    if not random:
        inside = np.mean(times % 50 >= 45)
        assert abs(inside - share_in_bursts) < 4 * np.sqrt(0.25 / 400_000)


@pytest.mark.truth
@pytest.mark.parametrize("cv", [0.4, 1.0, 2.5])
def test_gaps_have_the_asked_spread_in_the_time_that_runs_with_the_rate(cv: float) -> None:
    ramp = Ramp(from_requests_per_s=2, to_requests_per_s=10, over_s=1e5, cv=cv)
    times = times_of(ramp, 200_000)
    units = 2 * times + 8e-5 * times**2 / 2  # mean number of arrivals until then
    gaps = np.diff(units[times < 1e5])
    assert abs(gaps.mean() - 1) < 4 * cv / np.sqrt(len(gaps))
    standard_error = cv * cv * np.sqrt((6 * cv * cv + 2) / len(gaps))
    assert abs(gaps.var() - cv * cv) < 4 * standard_error
    assert standard_error < 0.05 * cv * cv


PROCESSES: list[Any] = [
    Rates(steps=steps((10, 3), (10, 0), (5, 9)), repeat=True),
    Rates(steps=steps((10, 3), (10, 7)), straight=True, cv=2),
    Ramp(from_requests_per_s=1, to_requests_per_s=20, over_s=100, cv=3),
    Bursts(requests_per_s=4, factor=5, every_s=30, lasting_s=3),
    Bursts(requests_per_s=4, factor=5, every_s=30, lasting_s=3, random=True, cv=0.5),
    Diurnal(requests_per_s=0.2, swing=1, days=(1, 1, 1, 1, 1, 0.2, 0)),
]


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.kind)
def test_first_arrivals_do_not_depend_on_how_many_follow(process: Any) -> None:
    few, many = times_of(process, 500), times_of(process, 4_000)
    np.testing.assert_array_equal(few, many[:500])
    assert np.all(np.diff(many) >= 0)
    assert np.isfinite(many).all()


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.kind)
def test_another_rate_keeps_the_course(process: Any) -> None:
    workload = validate(Workload, {"arrivals": process.model_dump(), **LENGTHS}, "here")
    assert workload.offered_requests_per_s == pytest.approx(process.mean_requests_per_s)
    faster = workload.with_rate(7.0)
    assert faster.offered_requests_per_s == pytest.approx(7.0)
    assert type(faster.arrivals) is type(process)
    assert Workload.model_validate(faster.model_dump(mode="json")) == faster
    assert "requests/s" in faster.describe()


def test_a_rate_that_changes_is_no_steady_state() -> None:
    process = {"kind": "ramp", "from_requests_per_s": 1, "to_requests_per_s": 5, "over_s": 60}
    traffic = validate(Workload, {"arrivals": process, **LENGTHS}, "here").draw(100, 0)
    assert not traffic.steady_state
    assert traffic.measured == 100
    assert len(traffic) == 200


def test_a_rate_that_ends_at_0_brings_no_more_than_it_does() -> None:
    course = {"kind": "rates", "steps": keys((10, 30), (10, 0)), "cv": 0}
    workload = validate(Workload, {"arrivals": course, **LENGTHS}, "here")
    whole = workload.draw(250, 0)
    assert (len(whole), whole.measured) == (300, 250)  # the tail ends where the arrivals do
    with pytest.raises(InputError, match="only 300 of 400 requests arrive: then the rate is 0"):
        workload.draw(400, 0)


@pytest.mark.parametrize(
    ("arrivals", "problem"),
    [
        ({"kind": "rates", "steps": []}, "at least 1 item"),
        ({"kind": "rates", "steps": keys((5, 0), (5, 0))}, "has no rate above 0"),
        ({"kind": "rates", "steps": keys((0, 3))}, "`arrivals.steps.0.for_s` should be gr"),
        ({"kind": "rates", "steps": keys((5, -3))}, "requests_per_s` should be greater"),
        (
            {"kind": "ramp", "from_requests_per_s": 0, "to_requests_per_s": 0, "over_s": 5},
            "has no rate above 0",
        ),
        (
            {"kind": "bursts", "requests_per_s": 1, "factor": 2, "every_s": 5, "lasting_s": 5},
            "needs `lasting_s` < `every_s`, found 5 and 5",
        ),
        ({"kind": "diurnal", "requests_per_s": 1, "hours": [1] * 23}, "at least 24 items"),
        ({"kind": "diurnal", "requests_per_s": 1, "hours": [0] * 24}, "has no rate above 0"),
        ({"kind": "diurnal", "requests_per_s": 1, "swing": 1.5}, "less than or equal to 1"),
        (
            {"kind": "diurnal", "requests_per_s": 1, "hours": [1] * 24, "swing": 0.5},
            "has `hours`, which stand in place of `swing`",
        ),
        ({"kind": "diurnal", "requests_per_s": 1, "start_hour": 30}, "needs `days`"),
    ],
)
def test_a_wrong_course_is_refused_in_one_sentence(arrivals: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        validate(Workload, {"arrivals": arrivals, **LENGTHS}, "scenario.yaml")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
