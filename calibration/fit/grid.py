"""Fitting a table of residuals: ridge regression on the hat functions of a grid."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np

from calibration.fit.problem import Mask, Residuals
from sim.cost.residuals import Grid, bracket
from sim.hardware.residual import Axis, Coordinate, Residual
from sim.records import FloatArray

PULL: Final = 1.0
"""Points' worth of belief in the prior at each knot."""
_LARGEST: Final = 1.5
"""Single errors beyond this, a factor of 4.5, are cut: they are outliers."""

Knots = Mapping[Coordinate, tuple[float, ...]]


def fit_grid(
    knots: Knots,
    coordinates: Mapping[str, FloatArray],
    log_errors: FloatArray,
    prior: Residual | None = None,
    *,
    pull: float = PULL,
) -> Residual:
    """Return the table that explains log(measured / form) best.

    Where there are no points it keeps the prior: another GPU's table, or nothing at all.
    """
    places = [bracket(np.log2(coordinates[name]), np.log2(at)) for name, at in knots.items()]
    sizes = tuple(len(at) for at in knots.values())
    count = int(np.prod(sizes))
    normal, right = pull * np.eye(count), pull * _prior(knots, prior)
    errors = np.clip(log_errors, -_LARGEST, _LARGEST)
    corners = []
    for corner in product((0, 1), repeat=len(places)):
        at = np.zeros(len(errors), dtype=np.intp)
        weight = np.ones(len(errors))
        for (below, fraction, _), side, size in zip(places, corner, sizes, strict=True):
            at = at * size + below + side
            weight = weight * (fraction if side else 1.0 - fraction)
        corners.append((at, weight))
    for at, weight in corners:
        np.add.at(right, at, weight * errors)
        for other, other_weight in corners:
            np.add.at(normal, (at, other), weight * other_weight)
    return to_residual(knots, np.asarray(np.linalg.solve(normal, right), dtype=np.float64))


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
    pull: float = PULL

    @property
    def has_prior(self) -> bool:
        """Whether a few rows suffice, since the rest is known from a sister."""
        return self.prior is not None

    def fit(self, log_errors: FloatArray, rows: Mask) -> Residual:
        """Return the table that explains the errors of some rows."""
        mine = {name: values[rows] for name, values in self.coordinates.items()}
        return fit_grid(self.knots, mine, log_errors[rows], self.prior, pull=self.pull)

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
