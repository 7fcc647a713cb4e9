"""How an engine's preset would do on models and GPUs that it was not fitted on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.engine.fit import FEWEST_ROWS, MOST_ROWS, spread_rows
from calibration.engine.linear import linearise
from calibration.engine.preset import read_preset
from calibration.engine.solve import LeftOut, left_out, left_out_error
from calibration.validate.runs import MeasuredRun

MOST_USERS: Final = 64
"""Small loads say the same about times of the host, and are simulated in a tenth of the time."""


@dataclass(frozen=True, slots=True)
class Cross:
    """Errors of one engine on what was left out of its fit."""

    engine: str
    rows: int
    by_model: tuple[LeftOut, ...]
    by_gpu: tuple[LeftOut, ...]

    @property
    def model_error(self) -> float | None:
        """Mean absolute error of TPOT over all rows, each predicted without its model.

        None where there is one model. A preset states it as `tpot_left_out_mean_ape`.
        """
        return left_out_error(self.by_model)


def cross_validate(runs: Sequence[MeasuredRun]) -> tuple[Cross, ...]:
    """Fit each engine without each model and without each GPU in turn, and judge on it.

    The knobs start at the shipped preset, move along lines through it, and are weakly pulled to
    it. Suspect rows, and engines with too few rows, are left out.
    """
    found = []
    for engine in sorted({run.engine for run in runs}):
        mine = [
            run
            for run in runs
            if run.engine == engine and not run.suspect and run.concurrency <= MOST_USERS
        ]
        if len(mine) < FEWEST_ROWS:
            continue
        preset = read_preset(engine)
        start = np.array([preset.value(knob.key) for knob in preset.knobs])
        at = {knob.key: float(value) for knob, value in zip(preset.knobs, start, strict=True)}
        line = linearise(preset, at, spread_rows(mine, MOST_ROWS), "mean")
        by_model = left_out(line, start, lambda run: run.model)
        by_gpu = left_out(line, start, lambda run: run.gpu)
        found.append(Cross(engine, len(line.runs), tuple(by_model), tuple(by_gpu)))
    return tuple(found)
