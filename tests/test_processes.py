"""Many tasks: order, workers that die, machines without processes, and Ctrl-C."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sim import processes
from sim.processes import Failed, Interrupted, map_tasks

ROOT = Path(__file__).parents[1]


def test_answers_come_in_the_order_of_the_tasks() -> None:
    assert map_tasks(abs, [-3, 1, -2], workers=2) == [3, 1, 2]


def test_a_worker_that_is_killed_costs_only_its_own_task_a_second_try(tmp_path: Path) -> None:
    mark = tmp_path / "killed before"
    dies_once = (
        f"7 if __import__('os').path.exists({str(mark)!r}) "
        f"else (open({str(mark)!r}, 'w').close(), __import__('os')._exit(1))"
    )
    assert map_tasks(eval, ["1 + 1", dies_once, "3 * 3"], workers=2) == [2, 7, 9]


def test_a_task_that_always_kills_its_worker_fails_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(processes, "MOST_POOLS", 1)
    results = map_tasks(os._exit, [1], workers=2)
    assert isinstance(results[0], Failed)
    assert "killed" in results[0].problem


def test_where_no_process_can_be_had_all_runs_in_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no semaphores here")

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", refuse)
    assert map_tasks(abs, [-1, -2], workers=2) == [1, 2]


def test_a_program_from_a_pipe_runs_all_in_one_process() -> None:
    program = (
        "from sim.processes import map_tasks\nprint(map_tasks(abs, [-1, -2, -3], workers=2))\n"
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
        "from sim.processes import map_tasks\n"
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

    with pytest.raises(Interrupted, match="after 2 of 4") as stopped:
        map_tasks(stop_at_three, [1, 2, 3, 4], workers=1)
    assert stopped.value.results == (10, 20, None, None)


def test_progress_counts_up_to_all() -> None:
    seen: list[int] = []
    map_tasks(abs, [-1, -2, -3], workers=1, on_result=seen.append)
    assert seen == [1, 2, 3]
