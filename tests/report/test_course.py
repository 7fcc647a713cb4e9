"""A rate that varies, of which only the beginning was run."""

from pathlib import Path
from typing import Any

import pytest

from sim.report.answer import answer, headline
from sim.report.course import part_of_course
from sim.report.document import outcome_document
from sim.run import Outcome, run
from sim.scenario import build_scenario

STEPS = [{"for_s": 100, "requests_per_s": 2}, {"for_s": 100, "requests_per_s": 18}]


def outcome(arrivals: dict[str, Any], requests: int) -> Outcome:
    content = {
        "name": "tale",
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "workload": {
            "arrivals": arrivals,
            "input_tokens": {"kind": "fixed", "tokens": 100},
            "output_tokens": {"kind": "fixed", "tokens": 10},
        },
        "slo": {"ttft_ms": 1000},
        "run": {"requests": requests},
    }
    return run(build_scenario(content, where="here", folder=Path()))


WINDOWS = [{**step, "cv": 1} for step in STEPS]


@pytest.mark.parametrize(
    "arrivals",
    [
        {"kind": "rates", "steps": STEPS, "repeat": True, "cv": 0},
        {"kind": "rates", "steps": STEPS, "cv": 0},
        {"kind": "windows", "windows": WINDOWS},
        {"kind": "diurnal", "requests_per_s": 10, "swing": 0.8, "peak_hour": 12},
    ],
)
def test_the_mean_of_a_course_that_was_not_run_is_never_said_to_be_served(
    arrivals: dict[str, Any],
) -> None:
    # each offers 2 requests/s at its beginning and 10 on average, 18 at its peak
    found = outcome(arrivals, 100)
    for text in (answer(found), headline(found)):
        assert "on average" not in text
        assert "10 requests/s" not in text
        assert "mean 10, peak 18 requests/s) was run: raise run.requests" in text
    document = outcome_document(found)["part_of_course"]
    assert document["offered_requests_per_s"] == pytest.approx(2, rel=0.25)
    assert document["simulated_s"] == pytest.approx(50, rel=0.25)
    assert any("the whole course of the rate" in one for one in found.not_modelled)


def test_what_was_offered_and_for_how_long_is_said() -> None:
    # evenly spaced at 2 requests/s: 100 of them in 50 s; all is 100 x 2 + 100 x 18
    text = answer(outcome({"kind": "rates", "steps": STEPS, "cv": 0}, 100))
    assert text.startswith("1 × H100 serves 2 requests/s in the first 50 s of tale: only the")
    assert "first 50 s of the course (200 s, mean 10" in text
    assert "(all of it: 2,000)" in text


def test_a_whole_course_is_given_by_its_mean() -> None:
    found = outcome({"kind": "rates", "steps": STEPS, "repeat": True, "cv": 0}, 2000)
    assert part_of_course(found) is None
    assert "serves 10 requests/s on average of tale: " in answer(found)
    assert outcome_document(found)["part_of_course"] is None


def test_a_course_whose_last_rate_goes_on_is_given_by_what_was_offered() -> None:
    # 2,000 in the first 200 s, then 18 a second: 5,600 in 400 s make 14 a second
    found = outcome({"kind": "rates", "steps": STEPS, "cv": 0}, 5600)
    assert "serves 14 requests/s on average over the run of tale: " in answer(found)


def test_a_steady_rate_has_no_course() -> None:
    assert part_of_course(outcome({"kind": "poisson", "requests_per_s": 5}, 100)) is None
