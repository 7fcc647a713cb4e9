"""The load in words, and what of a load that varies was too much."""

from pathlib import Path
from typing import Any

import pytest

from sim.report.load import load_label, too_much_label
from sim.run import Outcome, run
from sim.scenario import build_scenario


def outcome(arrivals: dict[str, Any], requests: int = 400) -> Outcome:
    content = {
        "name": "tale",
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "workload": {
            "arrivals": arrivals,
            "input_tokens": {"kind": "fixed", "tokens": 8000},
            "output_tokens": {"kind": "fixed", "tokens": 2},
        },
        "run": {"requests": requests},
    }
    return run(build_scenario(content, where="here", folder=Path()))


# A prompt of 8,000 tokens takes 1.3e14 FLOP, so that an H100 reads at most seven in a second.
STEPS = [{"for_s": 30, "requests_per_s": 1}, {"for_s": 30, "requests_per_s": 40}]


@pytest.mark.parametrize(
    ("arrivals", "said"),
    [
        ({"kind": "poisson", "requests_per_s": 40}, "40 requests/s"),
        (
            # evenly spaced: 30 in the first 30 s, 770 of the next: 799 gaps in 48.25 s
            {"kind": "rates", "steps": STEPS, "cv": 0},
            "up to 40 requests/s from 30 s on (16.6 requests/s in the first 49 s)",
        ),
        (
            # the last 30 one a second: 1,259 gaps in 89 s
            {"kind": "rates", "steps": [*STEPS, {"for_s": 1, "requests_per_s": 1}], "cv": 0},
            "up to 40 requests/s from 30 s to 60 s (14.1 requests/s on average over the run)",
        ),
    ],
)
def test_the_stretch_that_overloads_is_named(arrivals: dict[str, Any], said: str) -> None:
    # 30 requests in the first 30 s, 1,200 in the next: the third course goes on for a while
    requests = 1260 if len(arrivals.get("steps", ())) == 3 else 800
    found = outcome(arrivals, requests)
    assert found.metrics.status == "overloaded"
    assert too_much_label(found) == said


def test_a_rate_that_varies_is_given_by_its_mean() -> None:
    steps = {"kind": "rates", "steps": [{"for_s": 10, "requests_per_s": 1},
                                        {"for_s": 10, "requests_per_s": 2}]}  # fmt: skip
    listed = [{"for_s": 10, "requests_per_s": rate, "cv": 1} for rate in (1, 2)]
    windows = {"kind": "windows", "windows": listed}
    for arrivals in (steps, windows):
        assert load_label(outcome(arrivals, 10).scenario) == "1.5 requests/s on average"
