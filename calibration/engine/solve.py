"""Knobs from a line: robust least squares within bounds, standard errors, cross-validation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.engine.linear import Line
from calibration.engine.minimise import Minimum, minimise
from calibration.validate.errors import ErrorStats, error_stats
from calibration.validate.runs import MeasuredRun
from sim.records import FloatArray

SOFT: Final = 0.08
"""Errors well above this count by their size, not its square: rows hold unrecorded settings."""
PULL: Final = 0.02
"""Weak pull towards the preset, per share of a knob's range: decides only what the rows do not."""
QUEUE_OF_PASSES: Final = 200
"""A TTFT of so many times the TPOT is a wait for KV room: it says nothing about the host, and
answers to a knob in leaps. It is reported, and not fitted."""
_NO_EFFECT: Final = 1e-3
"""A knob that moves no time by this share over its whole range has no effect."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Fitted values in the order of the line's knobs."""

    values: FloatArray
    standard_errors: FloatArray
    """NaN for a knob without effect, or held at a bound."""
    moved: tuple[bool, ...]
    """Whether the rows say anything about the knob."""

    @property
    def told_apart(self) -> tuple[bool | None, ...]:
        """Whether each value exceeds its standard error; None where there is no such error."""
        return tuple(
            None if np.isnan(error) else bool(error <= value)
            for value, error in zip(self.values, self.standard_errors, strict=True)
        )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Errors on rows of a group that was left out of the fit."""

    group: str
    tpot: ErrorStats
    ttft: ErrorStats


def solve(line: Line, start: FloatArray) -> Solution:
    """Minimise the robust size of ln(predicted / measured) of TPOT and TTFT within the bounds."""
    most = np.array([knob.most for knob in line.knobs])
    fitted = fitted_times(line)
    effect = np.abs(line.slopes * most / line.times[:, :, None])[fitted].max(axis=0)
    active = effect > _NO_EFFECT
    values = start.copy()
    errors = np.full(len(values), np.nan)
    if not active.any():
        return Solution(values, errors, tuple(active.tolist()))

    first = np.clip(start[active] / most[active], 0, 1)

    def residuals(shares: FloatArray) -> FloatArray:
        full = values.copy()
        full[active] = shares * most[active]
        pull = PULL * (shares - first) * np.sqrt(len(line.runs))
        return np.concatenate([line.errors(full)[fitted], pull])

    found = minimise(residuals, first, scale=SOFT)
    values[active] = found.shares * most[active]
    errors[active] = _standard_errors(found) * most[active]
    return Solution(values, errors, tuple(active.tolist()))


def fitted_times(line: Line) -> NDArray[np.bool_]:
    """Return which times of each row (TPOT, TTFT) the fit looks at."""
    tpot, ttft = line.times[:, 0], line.times[:, 1]
    queued = (ttft > QUEUE_OF_PASSES * tpot) | (
        line.measured[:, 1] > QUEUE_OF_PASSES * line.measured[:, 0]
    )
    return np.stack([np.ones_like(queued), ~queued], axis=1)


def _standard_errors(minimum: Minimum) -> FloatArray:
    """sqrt(diag((J'J)^-1)) s, s from the errors' own robust spread; NaN at a bound."""
    shares, jacobian = minimum.shares, minimum.jacobian
    free = (shares > 1e-3) & (shares < 1 - 1e-3)
    found = np.full(len(shares), np.nan)
    if free.any():
        spread = 1.4826 * float(np.median(np.abs(minimum.residuals)))
        covariance = np.linalg.pinv(jacobian[:, free].T @ jacobian[:, free])
        found[free] = spread * np.sqrt(np.diag(covariance))
    return found


def left_out(line: Line, start: FloatArray, group: Callable[[MeasuredRun], str]) -> list[LeftOut]:
    """Fit without each group in turn and return the errors on it; nothing where there is one."""
    names = sorted({group(run) for run in line.runs})
    results = []
    for name in names if len(names) > 1 else ():
        mine = np.array([group(run) == name for run in line.runs])
        values = solve(line.some(~mine), start).values
        errors = np.expm1(line.some(mine).errors(values))
        results.append(LeftOut(name, error_stats(errors[:, 0]), error_stats(errors[:, 1])))
    return results


def left_out_error(found: Sequence[LeftOut]) -> float | None:
    """Return the mean absolute error of TPOT over all rows, each predicted without its group.

    None where nothing was left out. By models, a preset states it as `tpot_left_out_mean_ape`.
    """
    known = [(one.tpot.mean_ape, one.tpot.n) for one in found if one.tpot.mean_ape is not None]
    rows = sum(count for _, count in known)
    return sum(mean * count for mean, count in known) / rows if rows else None
