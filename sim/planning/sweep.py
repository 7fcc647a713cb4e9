"""Many runs at once: in order, on all cores where that pays, and nothing computed is lost."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, TypeVar

from sim.cost import Usage
from sim.economics.cost import Cost
from sim.errors import SimError
from sim.metrics.result import Metrics
from sim.run import run
from sim.scenario import Scenario

Task = TypeVar("Task")
Answer = TypeVar("Answer")

WORTH_A_POOL: Final = 15_000
"""Simulated requests below which starting processes costs more than it saves."""
MOST_POOLS: Final = 3
"""Process pools that may break before the tasks that are left are given up."""


@dataclass(frozen=True, slots=True)
class Result:
    """What is kept of a run: the answer without the records of single requests."""

    scenario: Scenario
    metrics: Metrics
    cost: Cost | None
    usage: Usage | None
    ridge_tokens_per_pass: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """A run without an answer: one sentence why."""

    problem: str


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C: `results` holds what was computed, `None` for the rest."""

    def __init__(self, results: Sequence[object]) -> None:
        self.results = tuple(results)
        done = sum(result is not None for result in self.results)
        super().__init__(f"stopped after {done} of {len(self.results)} runs")


def run_many(
    scenarios: Sequence[Scenario],
    workers: int | None = None,
    *,
    on_result: Callable[[int], None] | None = None,
) -> list[Result | Failed]:
    """Run the scenarios and return their results in the same order, whatever the workers.

    `workers` None: one process for few or short runs, else one a core. `on_result` is told how
    many runs are done. Scripts need the usual `if __name__ == "__main__":` for workers to start.
    """
    if workers is None:
        workers = workers_for(len(scenarios), sum(item.run.requests for item in scenarios))
    return map_tasks(_summary, scenarios, workers, on_result=on_result)


def _summary(scenario: Scenario) -> Result:
    outcome = run(scenario)
    return Result(
        scenario, outcome.metrics, outcome.cost, outcome.usage, outcome.ridge_tokens_per_pass
    )


def workers_for(tasks: int, requests: int) -> int:
    """Return how many processes pay for so many tasks of so many simulated requests in all."""
    if tasks < 2 or requests < WORTH_A_POOL or multiprocessing.parent_process() is not None:
        return 1  # and a worker starts no workers of its own
    return min(tasks, usable_cores())


def usable_cores() -> int:
    """Return the cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_tasks(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    workers: int,
    *,
    on_result: Callable[[int], None] | None = None,
) -> list[Answer | Failed]:
    """Apply a function of a module to every task; a mistake of the input becomes `Failed`.

    Answers are never `None`. A pool that breaks (a worker was killed) is built anew for what is
    left; where no worker can start, all runs in this process. Ctrl-C raises `SweepInterrupted`,
    which carries what was computed.
    """
    board = _Board[Answer](len(tasks), on_result)
    attempt = _Attempt(function)
    try:
        if workers > 1 and _main_can_be_imported():
            _in_pools(attempt, tasks, workers, board)
        else:
            _here(attempt, tasks, board)
    except KeyboardInterrupt:
        raise SweepInterrupted(board.results) from None
    lost = Failed("the process that ran it was killed, perhaps for want of memory")
    return [lost if result is None else result for result in board.results]


class _Board(Generic[Answer]):
    """Results by place, `None` until they come in."""

    def __init__(self, size: int, on_result: Callable[[int], None] | None) -> None:
        self.results: list[Answer | Failed | None] = [None] * size
        self._on_result, self._done = on_result, 0

    def set(self, place: int, result: Answer | Failed) -> None:
        """Note a result and tell how many there are."""
        self.results[place] = result
        self._done += 1
        if self._on_result is not None:
            self._on_result(self._done)

    def missing(self) -> list[int]:
        """Return the places without a result."""
        return [place for place, result in enumerate(self.results) if result is None]


@dataclass(frozen=True, slots=True)
class _Attempt(Generic[Task, Answer]):
    """The function with mistakes of the input as values: our errors do not travel as pickles."""

    function: Callable[[Task], Answer]

    def __call__(self, task: Task) -> Answer | Failed:
        try:
            return self.function(task)
        except SimError as error:
            return Failed(str(error))


def _main_can_be_imported() -> bool:
    """Tell whether a worker can load the program that started it: not if that came from a pipe."""
    file = getattr(sys.modules.get("__main__"), "__file__", None)
    return file is None or Path(file).exists()


def _here(attempt: _Attempt[Task, Answer], tasks: Sequence[Task], board: _Board[Answer]) -> None:
    for place in board.missing():
        board.set(place, attempt(tasks[place]))


def _in_pools(
    attempt: _Attempt[Task, Answer], tasks: Sequence[Task], workers: int, board: _Board[Answer]
) -> None:
    for _ in range(MOST_POOLS):
        missing = board.missing()
        if not missing:
            return
        # A broken pool loses what was in flight; the next one runs that again.
        with suppress(BrokenProcessPool), _pool(min(workers, len(missing))) as pool:
            if not _starts(pool):
                # No worker comes up here (a script without a main guard, say): it is not the task.
                _here(attempt, tasks, board)
                return
            futures = {pool.submit(attempt, tasks[place]): place for place in missing}
            for future in as_completed(futures):
                board.set(futures[future], future.result())


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    # Not `fork`: the caller may have threads (a dashboard does), and they do not survive it.
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context(method),
        # Ctrl-C reaches every process of a terminal; this one alone decides what it means.
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _starts(pool: ProcessPoolExecutor) -> bool:
    try:
        pool.submit(abs, 0).result()
    except BrokenProcessPool:
        return False
    return True
