"""Ctrl-C in the middle of several runs leaves what the finished seeds give."""

from typing import Any

import pytest

from sim.planning import thorough
from sim.planning.thorough import run_thoroughly
from sim.report.document import outcome_document
from sim.report.seeds import precision_sentence
from sim.scenario import Scenario, load_scenario


def small(*changes: str) -> Scenario:
    settings = ["run.requests=300", "deployment.replicas=2", "workload.arrivals.requests_per_s=4"]
    return load_scenario("chat-70b-h100", [*settings, *changes])


def stop_at(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Let Ctrl-C come when the run of a seed begins."""
    real = thorough._serve

    def serve(task: Any) -> Any:
        if task.seed == seed:
            raise KeyboardInterrupt
        return real(task)

    monkeypatch.setattr(thorough, "_serve", serve)


def test_an_interrupted_run_is_that_of_the_seeds_that_were_finished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    three = outcome_document(run_thoroughly(small("run.seeds=3"), workers=1))
    stop_at(monkeypatch, seed=3)
    outcome = run_thoroughly(small("run.seeds=6"), workers=1)
    stopped = outcome_document(outcome)
    assert stopped["replications"]["runs"] == 3
    assert stopped["replications"]["complete"] is False
    assert stopped["notes"][0] == "interrupted after 3 of 6 seeds"
    assert stopped["requests"] == three["requests"]
    for name, figures in stopped["latency"].items():
        same = [key for key in figures if not key.endswith("_with_calibration")]
        assert {key: figures[key] for key in same} == {
            key: three["latency"][name][key] for key in same
        }


def test_a_precision_that_was_not_waited_for_is_not_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop_at(monkeypatch, seed=2)
    outcome = run_thoroughly(small("run.precision=0.0001", "run.metric=requests_per_s"), workers=1)
    assert outcome.replications is not None
    assert (outcome.replications.runs, outcome.replications.stopped_of) == (2, 8)
    said = precision_sentence(outcome) or ""
    assert "not reached" in said
    assert said.endswith("after 2 runs (interrupted)")


def test_seeds_that_are_all_done_are_not_lost_with_the_share_of_the_calibration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(thorough, "_calibrated", interrupt)
    outcome = run_thoroughly(small("run.seeds=2"), workers=1)
    assert outcome.notes[0] == "interrupted after 2 of 2 seeds"
    with pytest.raises(KeyboardInterrupt):
        run_thoroughly(small())


def test_a_narrow_interval_of_few_runs_says_that_they_are_few() -> None:
    changes = ("run.precision=0.5", "run.metric=requests_per_s", "run.seeds=3")
    said = precision_sentence(run_thoroughly(small(*changes), workers=1)) or ""
    assert said.endswith("after 3 runs (fewer than 8 may agree by chance)")
