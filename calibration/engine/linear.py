"""How TTFT and TPOT of measured runs answer to the knobs: simulated once a knob, then a line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from calibration.engine.knobs import Knob
from calibration.engine.preset import Preset
from calibration.validate.pool import predict_all
from calibration.validate.replay import Prediction, Statistic
from calibration.validate.runs import MeasuredRun
from sim.records import FloatArray

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Line:
    """Predicted times [ms] around one setting of the knobs: rows x (TPOT, TTFT), and slopes."""

    runs: tuple[MeasuredRun, ...]
    knobs: tuple[Knob, ...]
    at: FloatArray
    """Values of the knobs there."""
    times: FloatArray
    """(rows, 2) [ms]."""
    slopes: FloatArray
    """(rows, 2, knobs) [ms per unit of the knob]."""
    measured: FloatArray
    """(rows, 2) [ms]."""

    def predicted(self, values: FloatArray) -> FloatArray:
        """Return the times at other values, along the line [ms]."""
        found: FloatArray = self.times + self.slopes @ (values - self.at)
        return np.maximum(found, 0.05 * self.times)

    def errors(self, values: FloatArray) -> FloatArray:
        """Return ln(predicted / measured), rows x (TPOT, TTFT)."""
        found: FloatArray = np.log(self.predicted(values) / self.measured)
        return found

    def some(self, rows: Sequence[bool] | FloatArray) -> "Line":
        """Return the line of some rows."""
        chosen = np.flatnonzero(np.asarray(rows))
        return Line(
            tuple(self.runs[i] for i in chosen),
            self.knobs,
            self.at,
            self.times[chosen],
            self.slopes[chosen],
            self.measured[chosen],
        )


def times_at(
    preset: Preset,
    values: Mapping[str, float],
    runs: Sequence[MeasuredRun],
    statistic: Statistic,
    *,
    workers: int = 2,
    progress: Progress | None = None,
) -> FloatArray:
    """Simulate runs under a preset; NaN where one cannot be simulated (rows x 2) [ms]."""
    with TemporaryDirectory() as folder:
        path = preset.changed(values).write(Path(folder) / f"{preset.name}.yaml")
        found = predict_all(runs, statistic, workers=workers, progress=progress, engine_file=path)
    nothing = (np.nan, np.nan)
    return np.array(
        [
            (one.tpot_ms or np.nan, one.ttft_ms) if isinstance(one, Prediction) else nothing
            for one in found
        ]
    )


def linearise(
    preset: Preset,
    values: Mapping[str, float],
    runs: Sequence[MeasuredRun],
    statistic: Statistic,
    *,
    progress: Progress | None = None,
) -> Line:
    """Return the line around `values`: one simulation of all runs, and one more a knob.

    Rows that cannot be simulated, or whose answers have one token, are left out.
    """
    knobs = preset.knobs
    at = np.array([values[knob.key] for knob in knobs])
    total, done = len(runs) * (len(knobs) + 1), 0

    def tell(now: int, _of: int) -> None:
        if progress is not None:
            progress(done + now, total)

    base = times_at(preset, values, runs, statistic, progress=tell)
    slopes = np.zeros((len(runs), 2, len(knobs)))
    for place, knob in enumerate(knobs):
        done += len(runs)
        up = values[knob.key] + knob.step <= knob.most
        step = knob.step if up else -knob.step
        moved = dict(values) | {knob.key: values[knob.key] + step}
        slopes[:, :, place] = (
            times_at(preset, moved, runs, statistic, progress=tell) - base
        ) / step
    measured = np.array([(run.tpot_ms or np.nan, run.ttft_ms) for run in runs])
    whole = Line(tuple(runs), knobs, at, base, slopes, measured)
    return whole.some(~np.isnan(base).any(axis=1) & ~np.isnan(measured).any(axis=1))
