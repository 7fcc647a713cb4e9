"""Sessions: prompts that hold the history, worked out by hand, and how many turns there are."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sim.errors import InputError
from sim.records import Traffic, Turns
from sim.workload import Workload, stream
from sim.workload.sessions import FixedTurns, GeometricTurns, UniformTurns
from sim.yaml_files import validate

POISSON = {"kind": "poisson", "requests_per_s": 12}
CLOSED = {"kind": "closed_loop", "users": 5, "think_s": 7}
FIXED: dict[str, Any] = {
    "input_tokens": {"kind": "fixed", "tokens": 100},
    "output_tokens": {"kind": "fixed", "tokens": 30},
}
SPREAD: dict[str, Any] = {
    "input_tokens": {"kind": "uniform", "low": 10, "high": 90},
    "output_tokens": {"kind": "uniform", "low": 5, "high": 50},
}


def a_workload(turns: dict[str, Any], arrivals: dict[str, Any] = POISSON, **keys: Any) -> Workload:
    session = {"turns": turns, **keys.pop("session", {})}
    given = {"arrivals": arrivals, **FIXED, **keys, "sessions": session}
    return validate(Workload, given, "scenario.yaml")


def turns_of(traffic: Traffic) -> Turns:
    assert traffic.turns is not None
    return traffic.turns


def test_each_prompt_holds_the_prompts_and_answers_before_it() -> None:
    """New text 100, answer 30, a system prompt of 40: 140, 270, 400."""
    workload = a_workload({"kind": "fixed", "turns": 3}, shared_prefix_tokens=40)
    traffic = workload.draw(9, 0)
    assert turns_of(traffic).first.tolist()[:4] == [0, 3, 6, 9]
    assert traffic.input_tokens[:9].tolist() == [140, 270, 400] * 3
    assert set(traffic.output_tokens) == {30}


def test_history_of_texts_that_differ_adds_up() -> None:
    traffic = a_workload({"kind": "geometric", "mean": 4}, **SPREAD).draw(500, 0)
    first = turns_of(traffic).first
    for start, end in pairwise(first):
        prompts, answers = traffic.input_tokens[start:end], traffic.output_tokens[start:end]
        texts = prompts - np.concatenate([[0], (prompts + answers)[:-1]])
        assert texts.min() >= 10
        assert texts.max() <= 90


def test_a_session_ends_before_the_turn_that_would_exceed_the_context() -> None:
    """Turn k ends at 130 k tokens: of five turns, three fit into 400."""
    workload = a_workload({"kind": "fixed", "turns": 5}, session={"max_context_tokens": 400})
    traffic = workload.draw(6, 0)
    assert turns_of(traffic).first.tolist()[:3] == [0, 3, 6]
    assert (traffic.input_tokens + traffic.output_tokens).max() == 390
    by_model = a_workload({"kind": "fixed", "turns": 5}).draw(6, 0, context_tokens=400)
    np.testing.assert_array_equal(by_model.input_tokens, traffic.input_tokens)


def test_a_first_turn_that_never_fits_is_asked_all_the_same() -> None:
    workload = a_workload({"kind": "fixed", "turns": 4}, session={"max_context_tokens": 50})
    traffic = workload.draw(6, 0)
    assert turns_of(traffic).first.tolist()[:4] == [0, 1, 2, 3]


@pytest.mark.parametrize("arrivals", [POISSON, CLOSED], ids=["open", "closed"])
def test_the_first_turns_do_not_depend_on_how_many_follow(arrivals: dict[str, Any]) -> None:
    session = {"think_s": 5, "think": "lognormal", "max_context_tokens": 700}
    workload = a_workload({"kind": "geometric", "mean": 6}, arrivals, **SPREAD, session=session)
    few, many = workload.draw(50, 2), workload.draw(400, 2)
    rows = turns_of(few).first[-1]
    assert rows == len(few)
    for name in ("arrival_s", "input_tokens", "output_tokens"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[:rows])
    np.testing.assert_array_equal(turns_of(few).pause_s, turns_of(many).pause_s[:rows])


def test_sessions_of_an_open_loop_bring_the_rate_that_is_asked_for() -> None:
    """12 requests/s in sessions of 4 turns are 3 sessions/s."""
    traffic = a_workload({"kind": "fixed", "turns": 4}).draw(40_000, 0)
    turns = turns_of(traffic)
    starts = traffic.arrival_s[turns.first[:-1]]
    assert abs(len(starts) / starts[-1] / 3 - 1) < 4 / np.sqrt(len(starts))
    np.testing.assert_array_equal(traffic.arrival_s, np.repeat(starts, 4))
    assert traffic.steady_state


def test_users_of_a_closed_loop_pause_between_turns_and_between_sessions() -> None:
    workload = a_workload({"kind": "fixed", "turns": 3}, CLOSED, session={"think_s": 2})
    traffic = workload.draw(30, 0)
    assert traffic.users == 5
    assert traffic.measured == 30
    assert len(traffic) == 45  # the last sessions of all five users keep the load up
    assert turns_of(traffic).pause_s[:6].tolist() == [7, 2, 2, 7, 2, 2]


@pytest.mark.truth
@pytest.mark.parametrize(("kind", "cv"), [("exponential", 1.0), ("lognormal", 1.6)])
def test_pauses_have_the_mean_and_spread_that_were_asked_for(kind: str, cv: float) -> None:
    think = {"think_s": 4, "think": kind} | ({"think_cv": cv} if kind == "lognormal" else {})
    loop = {"kind": "closed_loop", "users": 2, **think}
    workload = validate(Workload, {"arrivals": loop, **FIXED}, "here")
    traffic = workload.draw(100_000, 0)
    turns = turns_of(traffic)
    assert turns.first.tolist() == list(range(100_001))  # each request is a session of its own
    pauses = turns.pause_s
    assert abs(pauses.mean() / 4 - 1) < 4 * cv / np.sqrt(len(pauses))
    logs = np.log(pauses)
    spread = np.pi / np.sqrt(6) if kind == "exponential" else np.sqrt(np.log1p(cv * cv))
    kurtosis = 5.4 if kind == "exponential" else 3.0  # of the logarithm (Gumbel, normal)
    assert abs(logs.std() / spread - 1) < 4 * np.sqrt((kurtosis - 1) / 4 / len(pauses))


def test_a_fixed_pause_needs_no_sessions() -> None:
    loop = {"kind": "closed_loop", "users": 2, "think_s": 4}
    traffic = validate(Workload, {"arrivals": loop, **FIXED}, "here").draw(10, 0)
    assert traffic.turns is None
    assert traffic.think_s == 4


@pytest.mark.truth
@pytest.mark.parametrize(
    "turns",
    [FixedTurns(turns=4), UniformTurns(low=2, high=9), GeometricTurns(mean=5.5)],
    ids=lambda turns: turns.kind,
)
def test_turns_have_the_stated_moments(turns: Any) -> None:
    counts = turns.draw(200_000, stream(0, "turns")).astype(float)
    for power, mean in ((1, turns.mean), (2, turns.mean_square)):
        values = counts**power
        assert abs(values.mean() - mean) <= 4 * values.std() / np.sqrt(len(values)) + 1e-9
    assert counts.min() >= 1


@pytest.mark.truth
def test_mean_prompts_of_sessions_are_those_of_the_formula() -> None:
    workload = a_workload({"kind": "geometric", "mean": 5}, **SPREAD, shared_prefix_tokens=17)
    traffic, means = workload.draw(200_000, 0), workload.mean_tokens()
    # of geometric turns a request has mean - 1 = 4 turns before it: 17 + 50 + 4 (50 + 27.5)
    assert means == pytest.approx((377.0, 27.5))
    first = turns_of(traffic).first[:-1]
    sums = np.add.reduceat(traffic.input_tokens - means[0], first)
    error = sums.std() * np.sqrt(len(sums)) / len(traffic)
    assert abs(traffic.input_tokens.mean() - means[0]) < 4 * error
    assert error < 0.02 * means[0]


def test_one_session_is_of_one_class() -> None:
    classes = [
        {"name": "a", "share": 0.3, "shared_prefix_tokens": 64},
        {"name": "b", "share": 0.7},
    ]
    traffic = a_workload({"kind": "uniform", "low": 1, "high": 5}, classes=classes).draw(3_000, 0)
    first = turns_of(traffic).first
    sessions = np.repeat(np.arange(len(first) - 1), np.diff(first))
    of_session = traffic.request_class[first[:-1]]
    np.testing.assert_array_equal(traffic.request_class, of_session[sessions])
    assert abs(of_session.mean() - 0.7) < 4 * np.sqrt(0.21 / len(of_session))
    starts = traffic.input_tokens[first[:-1]]
    np.testing.assert_array_equal(starts, np.where(of_session == 0, 164, 100))


@pytest.mark.parametrize(
    ("sessions", "problem"),
    [
        ({}, "`sessions.turns` is missing"),
        ({"turns": {"kind": "fixed", "turns": 0}}, "turns` should be greater than or equal to 1"),
        ({"turns": {"kind": "uniform", "low": 5, "high": 2}}, "needs `low` <= `high`"),
        ({"turns": {"kind": "geometric", "mean": 0.5}}, "mean` should be greater than or equal"),
        ({"turns": {"kind": "fixed", "turns": 2}, "think_s": -1}, "`sessions.think_s` should be"),
        ({"turns": {"kind": "fixed", "turns": 2}, "think_cv": 2}, "has `think_cv`, which a pause"),
        ({"turns": {"kind": "fixed", "turns": 2}, "think": "long"}, "`sessions.think` should be"),
    ],
)
def test_wrong_sessions_are_refused_in_one_sentence(
    sessions: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        validate(Workload, {"arrivals": POISSON, **FIXED, "sessions": sessions}, "scenario.yaml")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_more_users_than_sessions_are_refused() -> None:
    workload = a_workload({"kind": "fixed", "turns": 5}, {"kind": "closed_loop", "users": 40})
    with pytest.raises(InputError, match="40 users cannot all be busy with 20 requests"):
        workload.draw(20, 0)
