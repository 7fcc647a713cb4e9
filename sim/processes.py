"""One function over many tasks: in order, in processes, and nothing computed is lost."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from sim.errors import SimError

if TYPE_CHECKING:  # a single run starts no processes, and need not load what can
    from concurrent.futures import ProcessPoolExecutor

Task = TypeVar("Task")
Answer = TypeVar("Answer")

MOST_POOLS: Final = 3
"""Process pools that may break before the tasks that are left are given up."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A task without an answer: one sentence why."""

    problem: str


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: `results` holds what was computed, `None` for the rest."""

    def __init__(self, results: Sequence[object]) -> None:
        self.results = tuple(results)
        done = sum(result is not None for result in self.results)
        super().__init__(f"stopped after {done} of {len(self.results)} tasks")


def usable_cores() -> int:
    """Return the cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_worker() -> bool:
    """Tell whether this process was started by another one to do its work."""
    from multiprocessing import parent_process

    return parent_process() is not None


def map_tasks(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    workers: int,
    *,
    on_result: Callable[[int], None] | None = None,
) -> list[Answer | Failed]:
    """Apply a function of a module to every task; a mistake of the input becomes `Failed`.

    Answers are never `None`. A pool that breaks (a worker was killed) is built anew for what is
    left; where no worker can start, all runs in this process. Ctrl-C raises `Interrupted`,
    which carries what was computed.
    """
    board = _Board[Answer](len(tasks), on_result)
    attempt = _Attempt(function)
    try:
        if workers > 1 and _main_can_be_imported():
            with suppress(OSError):  # no processes to be had: a sandbox without semaphores, say
                _in_pools(attempt, tasks, workers, board)
                return board.given_up()
        _here(attempt, tasks, board)
    except KeyboardInterrupt:
        raise Interrupted(board.results) from None
    return board.given_up()


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

    def given_up(self) -> list[Answer | Failed]:
        """Return the results; one that is missing could not be computed."""
        lost = Failed("the process that ran it was killed, perhaps for want of memory")
        return [lost if result is None else result for result in self.results]

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
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

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
def _pool(workers: int) -> Iterator["ProcessPoolExecutor"]:
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

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


def _starts(pool: "ProcessPoolExecutor") -> bool:
    from concurrent.futures.process import BrokenProcessPool

    try:
        pool.submit(abs, 0).result()
    except BrokenProcessPool:
        return False
    return True
