"""Fitting few coefficients inside their bounds: robust least squares on log errors, with a prior.

Times span six decades, so errors are relative: r = log(form / measured). Each coefficient is
searched in a coordinate that has no bounds (logit of an efficiency, log of a time). The loss is
quadratic for small errors and grows like |r| for large ones, so that single outliers do not
steer. A prior keeps what the data do not tell; where a form misses its data by more than the
noise, its prior is then believed the more, for few such data tell less.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from sim.records import FloatArray

NOISE: Final = 0.1
"""Relative error that a good fit has: weighs the data against the prior, and bends the loss."""
_STEP: Final = 1e-5
_CLOSE: Final = 1e-3
"""A thousandth of a coordinate is far below any standard error."""
_ROUNDS: Final = 60
ENOUGH_ROWS: Final = 3000
_NEAR_BOUND: Final = 0.01


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A number to find, where to start, and how sure one is of that."""

    name: str
    kind: Literal["efficiency", "time", "norm"]
    prior: float
    sigma: float = 0.5
    """Standard deviation of the prior in its own coordinate: 0.5 is a factor of 1.6 for a time."""

    @property
    def start(self) -> float:
        """The prior as a coordinate without bounds."""
        if self.kind == "efficiency":
            inside = min(max(self.prior, 0.02), 0.98)
            return float(np.log(inside / (1.0 - inside)))
        if self.kind == "time":
            return float(np.log(max(self.prior, 1e-10)))
        return float(np.log(max(self.prior, 1.05) - 1.0))

    def value(self, coordinate: float) -> float:
        """Return the coefficient: an efficiency in (0, 1), a time above 0, a norm above 1."""
        if self.kind == "efficiency":
            return float(1.0 / (1.0 + np.exp(-coordinate)))
        if self.kind == "time":
            return float(np.exp(min(coordinate, 0.0)))
        return float(1.0 + np.exp(min(coordinate, 3.0)))


Rows = NDArray[np.intp] | NDArray[np.bool_] | slice
ALL: Final = slice(None)
Form = Callable[[Mapping[str, float], Rows], FloatArray]
"""Coefficients and rows -> seconds of those rows."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The coefficients, how sure they are, and which of them lean on a bound."""

    values: Mapping[str, float]
    standard_errors: Mapping[str, float]
    at_bound: tuple[str, ...]


def solve(
    form: Form,
    measured_s: FloatArray,
    coefficients: Sequence[Coefficient],
    groups: NDArray[np.intp] | None = None,
) -> Solution:
    """Return the coefficients that fit best. Levenberg's and Marquardt's method, reweighted.

    Rows of one group share their error: standard errors are made by group where it is given.
    """
    start = np.array([each.start for each in coefficients])
    sigma = np.array([each.sigma for each in coefficients])

    def values(x: FloatArray) -> dict[str, float]:
        return {each.name: each.value(x[i]) for i, each in enumerate(coefficients)}

    def errors_of(rows: Rows) -> Callable[[FloatArray], FloatArray]:
        def errors(x: FloatArray) -> FloatArray:
            found: FloatArray = np.log(form(values(x), rows) / measured_s[rows])
            return found

        return errors

    # Most of the way on some of the rows, the last steps on all.
    x = start
    if len(measured_s) > 2 * ENOUGH_ROWS:
        some = np.linspace(0, len(measured_s) - 1, ENOUGH_ROWS).astype(np.intp)
        x, _, _ = _descend(errors_of(some), start, sigma, x)
    every = errors_of(np.arange(len(measured_s)))
    x, jacobian, residual = _descend(every, start, sigma, x)
    believed = sigma / np.sqrt(_overrated(residual))
    x, jacobian, residual = _descend(every, start, believed, x)
    spread = _spread(jacobian, residual, believed, groups)
    found = values(x)
    slopes = [
        (each.value(x[i] + _STEP) - each.value(x[i])) / _STEP
        for i, each in enumerate(coefficients)
    ]
    return Solution(
        found,
        {each.name: float(spread[i] * slopes[i]) for i, each in enumerate(coefficients)},
        tuple(
            each.name
            for each in coefficients
            if each.kind == "efficiency" and not _NEAR_BOUND < found[each.name] < 1.0 - _NEAR_BOUND
        ),
    )


def _descend(
    errors: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    sigma: FloatArray,
    x: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the best coordinates from `x` on, the Jacobian and the errors there.

    `start` and `sigma` are the prior.
    """
    x, damping = x.copy(), 1e-2
    residual = errors(x)
    jacobian = _jacobian(errors, x, residual)
    for _ in range(_ROUNDS):
        weight = 1.0 / (NOISE**2 * (1.0 + np.abs(residual) / NOISE))
        normal = (jacobian * weight[:, None]).T @ jacobian + np.diag(1.0 / sigma**2)
        slope = (jacobian * weight[:, None]).T @ residual + (x - start) / sigma**2
        cost = float((weight * residual**2).sum() + (((x - start) / sigma) ** 2).sum())
        for _ in range(10):
            step = -np.linalg.solve(normal + damping * np.diag(np.diag(normal)), slope)
            tried = errors(x + step)
            prior = float((((x + step - start) / sigma) ** 2).sum())
            if float((weight * tried**2).sum()) + prior < cost:
                damping /= 3.0
                break
            damping *= 4.0
        else:
            break
        x, residual = x + step, tried
        jacobian = _jacobian(errors, x, residual)
        if np.abs(step).max() < _CLOSE:
            break
    return x, jacobian, residual


def _overrated(residual: FloatArray) -> float:
    """Return by how much the loss overrates what errors of such a size tell; at least 1.

    A datum tells 1 / s^2, with s the standard deviation of the errors (sqrt(pi / 2) times their
    mean size, if normal); the loss gives it 1 / (NOISE^2 (1 + size / NOISE)).
    """
    size = float(np.abs(residual).mean())
    return max(1.0, np.pi / 2.0 * size**2 / (NOISE**2 * (1.0 + size / NOISE)))


def _jacobian(
    errors: Callable[[FloatArray], FloatArray], x: FloatArray, residual: FloatArray
) -> FloatArray:
    columns = []
    for i in range(len(x)):
        moved = x.copy()
        moved[i] += _STEP
        columns.append((errors(moved) - residual) / _STEP)
    return np.stack(columns, axis=1)


def _spread(
    jacobian: FloatArray,
    residual: FloatArray,
    sigma: FloatArray,
    groups: NDArray[np.intp] | None,
) -> FloatArray:
    """Return standard errors of the coordinates, clustered by group (Liang and Zeger 1986)."""
    weight = 1.0 / (NOISE**2 * (1.0 + np.abs(residual) / NOISE))
    normal = (jacobian * weight[:, None]).T @ jacobian + np.diag(1.0 / sigma**2)
    inverse = np.linalg.inv(normal)
    scores = jacobian * (weight * residual)[:, None]
    if groups is not None:
        summed = np.zeros((int(groups.max()) + 1, scores.shape[1]))
        np.add.at(summed, groups, scores)
        scores = summed
    meat = scores.T @ scores + np.diag(1.0 / sigma**2)
    variances: FloatArray = np.diag(inverse @ meat @ inverse)
    return np.sqrt(variances)
