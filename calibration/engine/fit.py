"""Fit the host layer of one engine on measured runs: `fit_engine` is the door."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from calibration.engine.linear import Line, Progress, linearise, times_at
from calibration.engine.preset import Preset, read_preset
from calibration.engine.solve import LeftOut, Solution, left_out, left_out_error, solve
from calibration.validate.errors import GroupErrors, error_stats
from calibration.validate.replay import Statistic
from calibration.validate.runs import MeasuredRun, read_runs
from sim.errors import InputError
from sim.records import FloatArray

MOST_ROWS: Final = 90
"""Rows behind the slopes; more cost time and say little new. Errors are those of all rows."""
FEWEST_ROWS: Final = 8
ROUNDS: Final = 2
"""Lines are drawn anew around the first solution: a queue answers to a knob in a curve."""


@dataclass(frozen=True, slots=True)
class EngineFit:
    """What came of a fit."""

    engine: str
    preset: Preset
    """With the fitted values."""
    line: Line
    start: FloatArray
    solution: Solution
    before: GroupErrors
    """Errors over all rows, as shipped."""
    after: GroupErrors
    by_model: tuple[LeftOut, ...]
    by_gpu: tuple[LeftOut, ...]
    rows: int

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader has to know of the values, a sentence each, without a full stop."""
        named = [
            f"`{knob.key}`"
            for knob, apart in zip(self.line.knobs, self.solution.told_apart, strict=True)
            if apart is False
        ]
        problem = "the standard error is larger than the value: not told apart by these rows"
        return (f"{', '.join(named)}: {problem}",) if named else ()

    def to_json(self) -> dict[str, object]:
        """Return the fit as one object; errors are fractions."""
        left = {"model": self.by_model, "gpu": self.by_gpu}
        return {
            "engine": self.engine,
            "rows": self.rows,
            "rows_of_the_slopes": len(self.line.runs),
            "settings": {
                knob.key: {
                    "before": float(before),
                    "fitted": float(value),
                    "standard_error": None if np.isnan(error) else float(error),
                    "bounds": [0, knob.most],
                    "identified": moved,
                    "told_apart": apart,
                }
                for knob, before, value, error, moved, apart in zip(
                    self.line.knobs,
                    self.start,
                    self.solution.values,
                    self.solution.standard_errors,
                    self.solution.moved,
                    self.solution.told_apart,
                    strict=True,
                )
            },
            "notes": list(self.notes),
            "error": self.preset.document.get("error"),
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "left_out": {
                axis: {
                    one.group: {"tpot": one.tpot.to_json(), "ttft": one.ttft.to_json()}
                    for one in found
                }
                for axis, found in left.items()
            },
        }


def fit_engine(
    path: Path,
    engine: str,
    *,
    statistic: Statistic = "mean",
    progress: Progress | None = None,
) -> EngineFit:
    """Fit the few times of an engine's preset on the rows of a table that name it.

    The same values for all models and GPUs. Suspect rows are left out. Raises `InputError` where
    there are too few rows.
    """
    runs = [run for run in read_runs(path) if run.engine == engine and not run.suspect]
    if len(runs) < FEWEST_ROWS:
        raise InputError(
            f"{len(runs)} sound rows of {engine}, {FEWEST_ROWS} are needed", where=str(path)
        )
    preset = read_preset(engine)
    start = np.array([preset.value(knob.key) for knob in preset.knobs])
    chosen = spread_rows(runs, MOST_ROWS)
    line = _line(preset, start, chosen, statistic, progress)
    solution = solve(line, start)
    for _ in range(ROUNDS - 1):
        line = _line(preset, solution.values, chosen, statistic, progress)
        solution = solve(line, start)
    keys = [knob.key for knob in line.knobs]
    fitted = dict(zip(keys, solution.values.tolist(), strict=True))
    before = _errors(preset, dict(zip(keys, start.tolist(), strict=True)), runs, statistic)
    after = _errors(preset, fitted, runs, statistic)
    today = datetime.now(tz=UTC).date().isoformat()
    by_model = tuple(left_out(line, start, lambda run: run.model))
    source = f"fitted on {len(runs)} serving runs of {path.name} with paretoken calibrate engine"
    return EngineFit(
        engine=engine,
        preset=preset.changed(
            fitted,
            origin="calibrated",
            source=source,
            as_of=today,
            error=_stated(left_out_error(by_model), after),
        ),
        line=line,
        start=start,
        solution=solution,
        before=before,
        after=after,
        by_model=by_model,
        by_gpu=tuple(left_out(line, start, lambda run: run.gpu)),
        rows=len(runs),
    )


def _stated(left_out_mean: float | None, after: GroupErrors) -> dict[str, float]:
    """Return the error of the preset: held out where there are two models, else in sample."""
    if left_out_mean is not None:
        return {"tpot_left_out_mean_ape": round(left_out_mean, 3)}
    mean = after.tpot.mean_ape
    return {} if mean is None else {"tpot_mean_ape": round(mean, 3)}


def _line(
    preset: Preset,
    values: FloatArray,
    runs: Sequence[MeasuredRun],
    statistic: Statistic,
    progress: Progress | None,
) -> Line:
    at = {knob.key: float(value) for knob, value in zip(preset.knobs, values, strict=True)}
    line = linearise(preset, at, runs, statistic, progress=progress)
    if len(line.runs) < FEWEST_ROWS:
        raise InputError("too few of the rows can be simulated", where=f"engine {preset.name}")
    return line


def _errors(
    preset: Preset,
    values: dict[str, float],
    runs: Sequence[MeasuredRun],
    statistic: Statistic,
) -> GroupErrors:
    times = times_at(preset, values, runs, statistic)
    tpot = [
        None if run.tpot_ms is None or np.isnan(found) else found / run.tpot_ms - 1
        for run, found in zip(runs, times[:, 0], strict=True)
    ]
    ttft = [
        None if np.isnan(found) else found / run.ttft_ms - 1
        for run, found in zip(runs, times[:, 1], strict=True)
    ]
    return GroupErrors(tpot=error_stats(tpot), ttft=error_stats(ttft))


def spread_rows(runs: Sequence[MeasuredRun], most: int) -> list[MeasuredRun]:
    """Return at most so many rows, spread evenly over models, GPUs, layouts, lengths and loads."""
    ordered = sorted(
        runs,
        key=lambda run: (
            *(run.model, run.gpu, run.weights, run.tensor_parallel, run.input_tokens),
            *(run.output_tokens, run.concurrency),
        ),
    )
    if len(ordered) <= most:
        return ordered
    places = np.linspace(0, len(ordered) - 1, most).round().astype(int)
    return [ordered[place] for place in places]
