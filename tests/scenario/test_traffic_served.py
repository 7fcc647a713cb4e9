"""Traffic of every kind, from the scenario file through the engine to the numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sim.run import Outcome, run
from sim.scenario import build_scenario, load_scenario

BASE: dict[str, Any] = {
    "name": "tale",
    "model": "llama-3.1-8b",
    "hardware": "h100_sxm",
    "deployment": {"weights": "fp8"},
    "slo": {"ttft_ms": 1000},
    "run": {"requests": 400},
}
LENGTHS: dict[str, Any] = {
    "input_tokens": {"kind": "uniform", "low": 200, "high": 600},
    "output_tokens": {"kind": "uniform", "low": 20, "high": 80},
}


def outcome(workload: dict[str, Any], **changes: Any) -> Outcome:
    scenario = build_scenario(
        {**BASE, "workload": {**LENGTHS, **workload}, **changes}, where="test", folder=Path()
    )
    return run(scenario)


def steps(*pairs: tuple[float, float]) -> list[dict[str, float]]:
    return [{"for_s": for_s, "requests_per_s": rate} for for_s, rate in pairs]


def test_hours_without_traffic_are_idle_and_end_nothing() -> None:
    """Five requests/s for 20 s, an hour of silence, and again."""
    course = {"kind": "rates", "steps": steps((20, 5), (3600, 0)), "repeat": True, "cv": 0}
    seen = outcome({"arrivals": course})
    arrivals = seen.simulation.records.arrival_s[:400]
    assert np.all(arrivals % 3620 <= 20 + 1e-6)
    assert arrivals[-1] == pytest.approx(3 * 3620 + 20)
    assert seen.metrics.requests.finished == 400
    assert seen.metrics.status == "ok"
    busy = seen.metrics.utilisation.busy
    assert busy is not None
    assert busy < 0.01
    leaps = seen.simulation.leaps
    assert np.all(leaps.start_s % 3620 < 40)  # nothing runs in the quiet hours


def test_a_ramp_beyond_capacity_is_overloaded_and_a_burst_is_not() -> None:
    ramp = {"kind": "ramp", "from_requests_per_s": 1, "to_requests_per_s": 800, "over_s": 20}
    assert outcome({"arrivals": ramp}, run={"requests": 6000}).metrics.status == "overloaded"
    burst = {"kind": "bursts", "requests_per_s": 10, "factor": 20, "every_s": 60, "lasting_s": 1}
    assert outcome({"arrivals": burst}, run={"requests": 3000}).metrics.status == "ok"


def test_a_session_that_outgrows_the_model_ends_and_nothing_is_rejected() -> None:
    """Qwen3 takes 40,960 tokens: each turn adds 9,000, so a session has four turns."""
    fixed = {
        "input_tokens": {"kind": "fixed", "tokens": 8500},
        "output_tokens": {"kind": "fixed", "tokens": 500},
    }
    sessions = {"turns": {"kind": "fixed", "turns": 50}, "think_s": 1}
    loop = {"kind": "closed_loop", "users": 2}
    seen = outcome(
        {"arrivals": loop, **fixed, "sessions": sessions}, model="qwen3-8b", run={"requests": 16}
    )
    assert seen.metrics.requests.rejected == 0
    inputs = seen.simulation.records.input_tokens[:16]
    assert set(inputs) == {8_500, 17_500, 26_500, 35_500}
    assert np.all(np.bincount((inputs - 8_500) // 9_000) == 4)


def test_sessions_and_requests_of_their_own_are_the_same_where_a_session_has_one_turn() -> None:
    poisson = {"arrivals": {"kind": "poisson", "requests_per_s": 12}}
    plain = outcome(poisson).simulation
    single = outcome({**poisson, "sessions": {"turns": {"kind": "fixed", "turns": 1}}}).simulation
    for name in ("arrival_s", "first_token_s", "last_token_s", "output_tokens"):
        mine, theirs = (getattr(run.records, name)[:400] for run in (plain, single))
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


@pytest.mark.parametrize("name", ["two-classes-70b-h100", "sessions-32b-h200"])
def test_the_built_in_traffic_keeps_its_targets(name: str) -> None:
    seen = run(load_scenario(name, ["run.requests=1500"]))
    assert seen.metrics.status == "ok"
    assert seen.metrics.slo.met
    assert seen.metrics.requests.rejected == 0


def test_the_built_in_day_follows_its_hours() -> None:
    scenario = load_scenario("day-8b-h100")
    traffic = scenario.workload.draw(scenario.run.requests, 0)
    measured = traffic.arrival_s[: traffic.measured]
    assert measured[-1] == pytest.approx(86_400, rel=0.01)
    hours = np.histogram(measured, bins=24, range=(0, 86_400))[0]
    assert int(np.argmax(hours)) in {14, 15}
    assert hours.max() > 6 * hours.min()


def test_warm_up_that_is_asked_for_takes_the_place_of_the_one_that_is_found() -> None:
    seen = outcome({"arrivals": {"kind": "poisson", "requests_per_s": 12}, "warmup_requests": 50})
    assert seen.metrics.warmup_requests == 50
    assert seen.metrics.requests.offered == 400
