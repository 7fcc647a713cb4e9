"""Many runs, a few processes: each run is independent of the others."""

import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Final

from calibration.validate.replay import Prediction, Refusal, Statistic, predict
from calibration.validate.runs import MeasuredRun

FEWEST_FOR_A_POOL: Final = 8
"""Fewer rows than this are done before a second process has started."""

Result = Prediction | Refusal
Progress = Callable[[int, int], None]


def predict_all(
    runs: Sequence[MeasuredRun],
    statistic: Statistic,
    *,
    workers: int = 2,
    progress: Progress | None = None,
) -> tuple[Result, ...]:
    """Return one result a run, in order; the same whatever the number of processes."""
    if workers > 1 and len(runs) >= FEWEST_FOR_A_POOL:
        try:
            return _in_processes(runs, statistic, workers, progress)
        except (OSError, BrokenProcessPool):
            pass  # no processes to be had here: one after the other, then
    results: list[Result] = []
    for run in runs:
        results.append(predict(run, statistic))
        _tell(progress, len(results), len(runs))
    return tuple(results)


def _in_processes(
    runs: Sequence[MeasuredRun], statistic: Statistic, workers: int, progress: Progress | None
) -> tuple[Result, ...]:
    """Longest first, so that all end together; fresh processes, so that no thread is copied."""
    longest_first = sorted(range(len(runs)), key=lambda i: -runs[i].concurrency)
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_leave_interrupts_alone) as pool:
        futures: dict[Future[Result], int] = {
            pool.submit(predict, runs[index], statistic): index for index in longest_first
        }
        results: dict[int, Result] = {}
        try:
            for future in as_completed(futures):
                results[futures[future]] = future.result()
                _tell(progress, len(results), len(runs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # rows that nobody waits for any more
            raise
    return tuple(results[index] for index in range(len(runs)))


def _leave_interrupts_alone() -> None:
    """Let Ctrl-C reach the parent alone, which then ends the rows; no traceback per process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _tell(progress: Progress | None, done: int, of: int) -> None:
    if progress is not None:
        progress(done, of)
