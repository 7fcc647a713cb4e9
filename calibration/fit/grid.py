"""Fitting a table of residuals: penalised regression on the hat functions of a grid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.fit.problem import Mask, Residuals
from calibration.fit.smooth import Smoothness, roughness, solve_blocks
from sim.cost.residuals import Grid, bracket
from sim.hardware.residual import Axis, Coordinate, Residual
from sim.records import FloatArray

PULL: Final = 1.0
_LARGEST: Final = 1.5
"""Single errors beyond this, a factor of 4.5, are cut: they are outliers."""

_ROUNDS: Final = 4
"""Of the robust fit: weights are made anew from its errors."""

Knots = Mapping[Coordinate, tuple[float, ...]]
Corners = Sequence[tuple[NDArray[np.intp], FloatArray]]
"""For each corner of the cell around a point: the knot, and how much it counts."""


@dataclass(frozen=True, slots=True)
class Penalty:
    """What a table would be without points, and how much that is believed."""

    pull: float = PULL
    """Points' worth of belief in the prior at each knot."""
    smooth: Mapping[Coordinate, Smoothness] = field(default_factory=dict)
    """Belief that knots go on like their neighbours, along some axes."""
    robust: float | None = None
    """Size of an error, as a logarithm, from which on a point counts less; None: never."""


def fit_grid(
    knots: Knots,
    coordinates: Mapping[str, FloatArray],
    log_errors: FloatArray,
    prior: Residual | None = None,
    *,
    penalty: Penalty = Penalty(),
) -> Residual:
    """Return the table that explains log(measured / form) best.

    Where there are no points it keeps the prior: another GPU's table, or nothing at all. A smooth
    table goes there as its neighbours go.
    """
    start = _prior(knots, prior)
    block = _reach(knots, penalty) * len(start) // len(next(iter(knots.values())))
    normal = penalty.pull * np.eye(len(start)) + roughness(knots, penalty.smooth)
    right = normal @ start
    errors = np.clip(log_errors, -_LARGEST, _LARGEST)
    corners = _corners(knots, coordinates, len(errors))
    system = _System(normal, right, block)
    values = system.solved(corners, errors, np.ones(len(errors)))
    if penalty.robust is not None:
        for _ in range(_ROUNDS):
            predicted = sum(weight * values[at] for at, weight in corners)
            points = 1.0 / (1.0 + np.abs(errors - predicted) / penalty.robust)
            values = system.solved(corners, errors, points)
    return to_residual(knots, values)


def _reach(knots: Knots, penalty: Penalty) -> int:
    """Return how many knots of the first axis on a knot depends."""
    first = next(iter(knots))
    return penalty.smooth[first].order if first in penalty.smooth else 1


def _corners(knots: Knots, coordinates: Mapping[str, FloatArray], points: int) -> Corners:
    """Return the knots around each point, with their weights."""
    places = [bracket(np.log2(coordinates[name]), np.log2(at)) for name, at in knots.items()]
    sizes = [len(at) for at in knots.values()]
    found = []
    for corner in product((0, 1), repeat=len(places)):
        at = np.zeros(points, dtype=np.intp)
        weight = np.ones(points)
        for (below, fraction, _), side, size in zip(places, corner, sizes, strict=True):
            at = at * size + below + side
            weight = weight * (fraction if side else 1.0 - fraction)
        found.append((at, weight))
    return found


@dataclass(frozen=True, slots=True)
class _System:
    """The penalty as an equation for the values at the knots."""

    normal: FloatArray
    right: FloatArray
    block: int
    """Knots that touch the next so many only."""

    def solved(self, corners: Corners, errors: FloatArray, points: FloatArray) -> FloatArray:
        """Return the values that explain weighted points best, beside the penalty."""
        normal, right = self.normal.copy(), self.right.copy()
        for at, weight in corners:
            np.add.at(right, at, weight * points * errors)
            for other, other_weight in corners:
                np.add.at(normal, (at, other), weight * points * other_weight)
        return solve_blocks(normal, right, self.block)


def to_residual(knots: Knots, values: FloatArray) -> Residual:
    """Return values at the knots as a table, in whole hundredths."""
    axes = tuple(Axis(of=name, at=at) for name, at in knots.items())
    width = len(axes[-1].at)
    rows = np.rint(100.0 * np.clip(values, -5.0, 5.0)).astype(int).reshape(-1, width)
    lines = (" ".join(map(str, row)) for row in rows)
    return Residual(axes=axes, hundredths="\n".join(lines))


@dataclass(frozen=True, slots=True)
class GridTable:
    """Residuals on a grid over some coordinates of the rows."""

    knots: Knots
    coordinates: Mapping[str, FloatArray]
    prior: Residual | None = None
    penalty: Penalty = field(default_factory=Penalty)

    @property
    def has_prior(self) -> bool:
        """Whether a few rows suffice, since the rest is known from a sister."""
        return self.prior is not None

    def prior_log_ratio(self) -> FloatArray:
        """Return log(measured / form) of all rows by the sister's table; 0 without one."""
        known = self.prior is not None and {axis.of for axis in self.prior.axes} == set(self.knots)
        if self.prior is None or not known:
            return np.zeros(len(next(iter(self.coordinates.values()))))
        return self.log_ratio(self.prior)

    def fit(self, log_errors: FloatArray, rows: Mask) -> Residual:
        """Return the table that explains the errors of some rows."""
        mine = {name: values[rows] for name, values in self.coordinates.items()}
        return fit_grid(self.knots, mine, log_errors[rows], self.prior, penalty=self.penalty)

    def log_ratio(self, table: Residuals) -> FloatArray:
        """Return log(measured / form) of all rows by a table."""
        if not isinstance(table, Residual):
            raise TypeError(table)
        grid = Grid.of(table)
        return grid.log_ratio(**{name: self.coordinates[name] for name in grid.names})


def _prior(knots: Knots, prior: Residual | None) -> FloatArray:
    """Return a table's values at other knots; 0 where it has nothing to say."""
    if prior is None or {axis.of for axis in prior.axes} != set(knots):
        return np.zeros(int(np.prod([len(at) for at in knots.values()])))
    meshes = np.meshgrid(*(np.array(at) for at in knots.values()), indexing="ij")
    points = dict(zip(knots, (mesh.ravel() for mesh in meshes), strict=True))
    found: FloatArray = Grid.of(prior).log_ratio(**points)
    return found
