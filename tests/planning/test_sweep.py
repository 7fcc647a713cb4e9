"""Many runs: order, workers that die, and Ctrl-C."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim.planning import Failed, Result, SweepInterrupted, run_many
from sim.planning.sweep import map_tasks, workers_for
from sim.scenario import Scenario, build_scenario

ROOT = Path(__file__).parents[2]


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


def test_a_worker_that_is_killed_costs_only_its_own_task_a_second_try(tmp_path: Path) -> None:
    mark = tmp_path / "killed before"
    dies_once = (
        f"7 if __import__('os').path.exists({str(mark)!r}) "
        f"else (open({str(mark)!r}, 'w').close(), __import__('os')._exit(1))"
    )
    assert map_tasks(eval, ["1 + 1", dies_once, "3 * 3"], workers=2) == [2, 7, 9]


def test_a_task_that_always_kills_its_worker_fails_in_the_end() -> None:
    results = map_tasks(os._exit, [1], workers=2)
    assert isinstance(results[0], Failed)
    assert "killed" in results[0].problem


def test_a_program_from_a_pipe_runs_all_in_one_process() -> None:
    program = (
        "from sim.planning.sweep import map_tasks\n"
        "print(map_tasks(abs, [-1, -2, -3], workers=2))\n"
    )
    ran = subprocess.run(
        [sys.executable], cwd=ROOT, input=program, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[1, 2, 3]\n"
    assert ran.stderr == ""


def test_a_script_without_a_main_guard_gets_its_answer_too(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from sim.planning.sweep import map_tasks\n"
        "print(map_tasks(abs, [-1, -2, -3], workers=2))\n"
    )
    ran = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout == "[1, 2, 3]\n"


def test_ctrl_c_keeps_what_was_computed() -> None:
    def stop_at_three(task: int) -> int:
        if task == 3:
            raise KeyboardInterrupt
        return task * 10

    with pytest.raises(SweepInterrupted, match="after 2 of 4") as stopped:
        map_tasks(stop_at_three, [1, 2, 3, 4], workers=1)
    assert stopped.value.results == (10, 20, None, None)


def test_progress_counts_up_to_all() -> None:
    seen: list[int] = []
    map_tasks(abs, [-1, -2, -3], workers=1, on_result=seen.append)
    assert seen == [1, 2, 3]


def test_a_few_short_runs_stay_in_this_process() -> None:
    assert workers_for(tasks=2, requests=200) == 1
    assert workers_for(tasks=1, requests=10**9) == 1
    assert workers_for(tasks=2, requests=10**9) <= 2
