"""Reading the tables of residuals: by how much a kernel is slower than its smooth form."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from sim.cost.roofline import Number
from sim.hardware.residual import ExpertShapes, Residual
from sim.records import FloatArray

_PER_HUNDRED = 0.01
_FEATURE_WEIGHTS = (0.5, 1.0, 1.0, 1.0, 1.0)
"""Of expert bytes, experts, active ones, expert parallelism and width, in octaves."""
_NEARNESS = 0.02
_POWER = 2.0
"""Weights of neighbours are (squared distance + 0.02)^-2."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """log(measured / form) over one quantity: linear in its logarithm, fading beyond its ends."""

    octaves: FloatArray
    values: FloatArray

    def factor(self, quantity: Number) -> Number:
        """Return measured / form at a quantity, or at many; 1 an octave beyond the table."""
        octaves = np.log2(quantity)
        first, last = self.octaves[0], self.octaves[-1]
        beyond = np.maximum(0.0, np.maximum(first - octaves, octaves - last))
        inside = np.interp(octaves, self.octaves, self.values)
        found: Number = np.exp(inside * np.maximum(0.0, 1.0 - beyond))
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

    def log_ratio(self, **quantities: Number) -> FloatArray:
        """Return log(measured / form) where all axes are given, single figures or arrays."""
        total: FloatArray = np.zeros(())
        places = [
            bracket(np.log2(quantities[name]), axis)
            for name, axis in zip(self.names, self.octaves, strict=True)
        ]
        for corner in product((0, 1), repeat=len(places)):
            index = tuple(place[0] + side for place, side in zip(places, corner, strict=True))
            weight = np.ones(())
            for (_, fraction, _), side in zip(places, corner, strict=True):
                weight = weight * (fraction if side else 1.0 - fraction)
            total = total + weight * self.values[index]
        for _, _, faded in places:
            total = total * faded
        return total

    def along(self, name: str, **fixed: float) -> Curve:
        """Return the table as a curve over one of its axes, with the others fixed."""
        knots = self.octaves[self.names.index(name)]
        return Curve(knots, self.log_ratio(**{name: 2.0**knots}, **fixed))


def bracket(octaves: Number, knots: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Return the knot below, the fraction of the way to the next, and what fading leaves."""
    inside = np.clip(octaves, knots[0], knots[-1])
    below = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
    fraction = (inside - knots[below]) / (knots[below + 1] - knots[below])
    return below, fraction, np.maximum(0.0, 1.0 - np.abs(octaves - inside))


@dataclass(frozen=True, slots=True)
class ExpertShape:
    """Routed experts as one rank holds them."""

    hidden: float
    intermediate: float
    """Width of an expert after the split over GPUs that share it."""
    experts: float
    active: float
    expert_parallel: float

    @property
    def features(self) -> tuple[float, float, float, float, float]:
        """What makes shapes alike, in octaves."""
        sizes = (
            self.hidden * self.intermediate,
            self.experts,
            self.active,
            self.expert_parallel,
            self.intermediate,
        )
        return tuple(float(np.log2(size)) for size in sizes)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, eq=False)
class ShapeTable:
    """`ExpertShapes` as numbers."""

    octaves: FloatArray
    shapes: tuple[ExpertShape, ...]
    features: FloatArray
    values: FloatArray

    @classmethod
    def of(cls, table: ExpertShapes) -> "ShapeTable":
        """Read a table."""
        shapes, rows = [], []
        for line in table.shapes.splitlines():
            facts, _, numbers = line.partition("|")
            shapes.append(ExpertShape(*map(float, facts.split())))
            rows.append([_PER_HUNDRED * int(number) for number in numbers.split()])
        features = np.array([shape.features for shape in shapes])
        return cls(np.log2(np.array(table.tokens)), tuple(shapes), features, np.array(rows))

    def holds(self, shape: ExpertShape) -> bool:
        """Whether a shape was timed itself."""
        return shape in self.shapes

    def curve(self, shape: ExpertShape) -> Curve:
        """Return a shape's own row over the tokens, or the mean of its neighbours' rows."""
        if shape in self.shapes:
            return Curve(self.octaves, self.values[self.shapes.index(shape)])
        away = (self.features - np.array(shape.features)) * np.array(_FEATURE_WEIGHTS)
        weights = ((away**2).sum(axis=1) + _NEARNESS) ** -_POWER
        row: FloatArray = weights @ self.values / weights.sum()
        return Curve(self.octaves, row)
