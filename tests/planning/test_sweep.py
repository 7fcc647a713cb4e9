"""Many runs: their order, and what cannot be run."""

from pathlib import Path

from sim.planning import Failed, Result, run_many
from sim.planning.sweep import workers_for
from sim.scenario import Scenario, build_scenario


def scenario(users: int, tensor_parallel: int = 1, model: str = "llama-3.1-8b") -> Scenario:
    content = {
        "model": model,
        "hardware": "h100_sxm",
        "deployment": {"tensor_parallel": tensor_parallel},
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": users},
            "input_tokens": {"kind": "fixed", "tokens": 100},
            "output_tokens": {"kind": "fixed", "tokens": 20},
        },
        "run": {"requests": 40},
    }
    return build_scenario(content, where="test", folder=Path())


def users_of(result: Result | Failed) -> int:
    assert isinstance(result, Result)
    arrivals = result.scenario.workload.arrivals
    assert arrivals.kind == "closed_loop"
    return arrivals.users


def test_results_come_in_the_order_of_the_scenarios_whatever_the_workers() -> None:
    too_big = scenario(1, model="llama-3.1-70b")
    scenarios = [scenario(4), too_big, scenario(1), scenario(2)]
    serial, pooled = run_many(scenarios, workers=1), run_many(scenarios, workers=2)
    assert [users_of(result) for result in serial if isinstance(result, Result)] == [4, 1, 2]
    assert serial == pooled


def test_what_cannot_be_run_is_said_in_a_sentence_and_the_rest_is_run() -> None:
    failed, done = run_many([scenario(1, model="llama-3.1-70b"), scenario(3)], workers=1)
    assert isinstance(failed, Failed)
    assert "needs" in failed.problem
    assert "GB per GPU" in failed.problem
    assert users_of(done) == 3


def test_a_few_short_runs_stay_in_this_process() -> None:
    assert workers_for(tasks=2, requests=200) == 1
    assert workers_for(tasks=1, requests=10**9) == 1
    assert workers_for(tasks=2, requests=10**9) <= 2
