"""Robust least squares in a few variables between 0 and 1."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from sim.records import FloatArray

Residuals = Callable[[FloatArray], FloatArray]
_ROUNDS: Final = 60
_SWEEPS: Final = 200
_NUDGE: Final = 1e-5


@dataclass(frozen=True, slots=True)
class Minimum:
    """Where the sum of soft sizes is least, and the residuals there."""

    shares: FloatArray
    residuals: FloatArray
    jacobian: FloatArray
    """Of the residuals, each scaled by the square root of its weight."""


def minimise(residuals: Residuals, first: FloatArray, *, scale: float) -> Minimum:
    """Minimise sum 2 scale² (sqrt(1 + (r / scale)²) - 1) over 0 <= x <= 1.

    Gauss-Newton on reweighted residuals (weight 1 / sqrt(1 + (r / scale)²)); each step is the
    bounded least-squares one, found coordinate by coordinate, and halved until it helps.
    """
    shares = first.copy()
    for _ in range(_ROUNDS):
        now = residuals(shares)
        jacobian = _jacobian(residuals, shares, now)
        weight = 1 / np.sqrt(1 + (now / scale) ** 2)
        wanted = _bounded(jacobian.T @ (weight[:, None] * jacobian), jacobian.T @ (weight * now),
                          shares)  # fmt: skip
        step, best = wanted - shares, _size(now, scale)
        for _ in range(20):
            if _size(residuals(shares + step), scale) < best:
                break
            step = step / 2
        else:
            break
        shares = np.clip(shares + step, 0, 1)
        if float(np.abs(step).max()) < 1e-7:
            break
    now = residuals(shares)
    weight = 1 / np.sqrt(1 + (now / scale) ** 2)
    jacobian = np.sqrt(weight)[:, None] * _jacobian(residuals, shares, now)
    return Minimum(shares, now, jacobian)


def _size(found: FloatArray, scale: float) -> float:
    return float((np.sqrt(1 + (found / scale) ** 2) - 1).sum())


def _jacobian(residuals: Residuals, shares: FloatArray, now: FloatArray) -> FloatArray:
    columns = []
    for place in range(len(shares)):
        moved = shares.copy()
        nudge = _NUDGE if moved[place] + _NUDGE <= 1 else -_NUDGE
        moved[place] += nudge
        columns.append((residuals(moved) - now) / nudge)
    return np.stack(columns, axis=1)


def _bounded(hessian: FloatArray, gradient: FloatArray, at: FloatArray) -> FloatArray:
    """Minimise g'd + d'Hd / 2 with 0 <= at + d <= 1, one coordinate after the other."""
    found = at.copy()
    for _ in range(_SWEEPS):
        before = found.copy()
        for place in range(len(found)):
            curvature = hessian[place, place]
            if curvature <= 0:
                continue
            slope = gradient[place] + hessian[place] @ (found - at)
            found[place] = min(1.0, max(0.0, found[place] - slope / curvature))
        if float(np.abs(found - before).max()) < 1e-10:
            break
    return found
