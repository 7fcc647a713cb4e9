"""Many measured runs, a few processes: each run is independent of the others."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from calibration.validate.recipes import Settings
from calibration.validate.replay import Prediction, Refusal, Statistic, predict
from calibration.validate.runs import MeasuredRun
from sim.processes import Failed, map_tasks

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
    engine_file: Path | None = None,
    settings: Settings = "suite",
) -> tuple[Result, ...]:
    """Return one result a run, in order; the same whatever the number of processes."""
    # The longest first, so that all processes end together.
    order = sorted(range(len(runs)), key=lambda index: -runs[index].concurrency)

    def tell(done: int) -> None:
        if progress is not None:
            progress(done, len(runs))

    found = map_tasks(
        partial(predict, statistic=statistic, engine_file=engine_file, settings=settings),
        [runs[index] for index in order],
        workers if len(runs) >= FEWEST_FOR_A_POOL else 1,
        on_result=tell,
    )
    results = dict(zip(order, found, strict=True))
    return tuple(_said(runs[index], results[index]) for index in range(len(runs)))


def _said(run: MeasuredRun, result: Result | Failed) -> Result:
    return Refusal(run.case, result.problem) if isinstance(result, Failed) else result
