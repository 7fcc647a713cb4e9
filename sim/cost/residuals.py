"""Reading the tables of residuals: by how much a kernel is slower than its smooth form."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import exp, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.cost.expert_shapes import ExpertShape, likely_row
from sim.cost.roofline import Figures
from sim.hardware.residual import ExpertShapes, Residual
from sim.records import FloatArray

_PER_HUNDRED = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """log(measured / form) over one quantity: linear in its logarithm, fading beyond its ends."""

    octaves: FloatArray
    values: FloatArray

    def at(self, octaves: FloatArray) -> FloatArray:
        """Return log(measured / form) at some octaves; beyond the ends, that of the ends."""
        return np.interp(octaves, self.octaves, self.values)

    def factor(self, quantity: Figures) -> Figures:
        """Return measured / form at a quantity, or at many; 1 an octave beyond the table."""
        octaves = np.log2(quantity)
        first, last = self.octaves[0], self.octaves[-1]
        beyond = np.maximum(0.0, np.maximum(first - octaves, octaves - last))
        inside = np.interp(octaves, self.octaves, self.values)
        found: Figures = np.exp(inside * np.maximum(0.0, 1.0 - beyond))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A `Residual` as numbers; its axes in octaves."""

    names: tuple[str, ...]
    octaves: tuple[FloatArray, ...]
    values: FloatArray

    @classmethod
    def of(cls, residual: Residual) -> "Grid":
        """Read a table."""
        octaves = tuple(np.log2(np.array(axis.at)) for axis in residual.axes)
        numbers = np.array(residual.hundredths.split(), dtype=np.float64) * _PER_HUNDRED
        shape = tuple(len(axis) for axis in octaves)
        return cls(tuple(axis.of for axis in residual.axes), octaves, numbers.reshape(shape))

    def log_ratio(self, **quantities: Figures) -> FloatArray:
        """Return log(measured / form) where all axes are given, single figures or arrays."""
        total: Figures = 0.0
        places = [
            _place(np.log2(quantities[name]), axis)
            for name, axis in zip(self.names, self.octaves, strict=True)
        ]
        for corner in product((0, 1), repeat=len(places)):
            index = tuple(place[0] + side for place, side in zip(places, corner, strict=True))
            weight: Figures = 1.0
            for (_, fraction, _), side in zip(places, corner, strict=True):
                weight = weight * (fraction if side else 1.0 - fraction)
            total = total + weight * self.values[index]
        for _, _, faded in places:
            total = total * faded
        return np.asarray(total)

    def along(self, name: str, **fixed: float) -> Curve:
        """Return the table as a curve over one of its axes, with the others fixed."""
        knots = self.octaves[self.names.index(name)]
        at: dict[str, Figures] = {name: 2.0**knots, **fixed}
        return Curve(knots, self.log_ratio(**at))


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A grid of which two axes are left, for single figures: it is asked in the inner loop."""

    rows: list[float]
    columns: list[float]
    values: list[list[float]]

    @classmethod
    def of(cls, grid: Grid, rows: str, columns: str, **fixed: float) -> "Plane":
        """Fix all axes of a grid but two."""
        at = [grid.octaves[grid.names.index(name)] for name in (rows, columns)]
        meshes = np.meshgrid(*(2.0**octaves for octaves in at), indexing="ij")
        everything: dict[str, Figures] = {rows: meshes[0], columns: meshes[1], **fixed}
        values = grid.log_ratio(**everything)
        return cls(at[0].tolist(), at[1].tolist(), values.tolist())

    def factor(self, row: float, column: float) -> float:
        """Return measured / form."""
        i, x, row_left = _bracket(log2(row), self.rows)
        j, y, column_left = _bracket(log2(column), self.columns)
        below, above = self.values[i], self.values[i + 1]
        lower = below[j] + y * (below[j + 1] - below[j])
        upper = above[j] + y * (above[j + 1] - above[j])
        return exp((lower + x * (upper - lower)) * row_left * column_left)


def _place(octaves: Figures, knots: FloatArray) -> tuple[Any, Figures, Figures]:
    """Return `bracket`, of a single figure without the time that arrays take."""
    if np.ndim(octaves):
        return bracket(octaves, knots)
    return _bracket(float(octaves), knots.tolist())


def _bracket(octaves: float, knots: list[float]) -> tuple[int, float, float]:
    """Return `bracket` of a single figure."""
    inside = min(max(octaves, knots[0]), knots[-1])
    below = min(bisect_right(knots, inside), len(knots) - 1) - 1
    fraction = (inside - knots[below]) / (knots[below + 1] - knots[below])
    return below, fraction, max(0.0, 1.0 - abs(octaves - inside))


@lru_cache(maxsize=256)
def grid_of(residual: Residual) -> Grid:
    """Return a table as numbers; remembered."""
    return Grid.of(residual)


@lru_cache(maxsize=64)
def shapes_of(table: ExpertShapes) -> "ShapeTable":
    """Return a table of experts as numbers; remembered."""
    return ShapeTable.of(table)


def bracket(
    octaves: Figures, knots: FloatArray
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Return the knot below, the fraction of the way to the next, and what fading leaves."""
    inside = np.clip(octaves, knots[0], knots[-1])
    below = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
    fraction = (inside - knots[below]) / (knots[below + 1] - knots[below])
    return below, fraction, np.maximum(0.0, 1.0 - np.abs(octaves - inside))


@dataclass(frozen=True, slots=True, eq=False)
class ShapeTable:
    """`ExpertShapes` as numbers."""

    octaves: FloatArray
    shapes: tuple[ExpertShape, ...]
    values: FloatArray

    @classmethod
    def of(cls, table: ExpertShapes) -> "ShapeTable":
        """Read a table."""
        shapes, rows = [], []
        for line in table.shapes.splitlines():
            facts, _, numbers = line.partition("|")
            shapes.append(ExpertShape(*map(float, facts.split())))
            rows.append([_PER_HUNDRED * int(number) for number in numbers.split()])
        return cls(np.log2(np.array(table.tokens)), tuple(shapes), np.array(rows))

    def holds(self, shape: ExpertShape) -> bool:
        """Whether a shape was timed itself."""
        return shape in self.shapes

    def curve(self, shape: ExpertShape) -> Curve:
        """Return a shape's own row over the tokens, or what those of the others make likely.

        Rows are compared where as many tokens come to an expert. No row leaves their range.
        """
        if shape in self.shapes:
            return Curve(self.octaves, self.values[self.shapes.index(shape)])
        rows = np.array(
            [
                np.interp(
                    self.octaves + shape.load_octaves - other.load_octaves, self.octaves, row
                )
                for other, row in zip(self.shapes, self.values, strict=True)
            ]
        )
        return Curve(self.octaves, likely_row(self.shapes, rows, shape))
