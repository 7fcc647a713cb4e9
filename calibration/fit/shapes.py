"""The table of routed experts: a row over the tokens for each shape that was timed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calibration.fit.problem import Mask, Residuals
from sim.cost.expert_shapes import ExpertShape
from sim.cost.residuals import ShapeTable
from sim.hardware.residual import ExpertShapes
from sim.records import FloatArray

TOKENS: Final = (1, 4, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384)
"""Knots of the tokens."""
_MOST: Final = 4.5


@dataclass(frozen=True, slots=True)
class ShapeRows:
    """Rows of experts: the shape of each group, and the tokens of each row."""

    shapes: Sequence[ExpertShape]
    groups: NDArray[np.intp]
    tokens: FloatArray
    prior: ExpertShapes | None = None
    """A sister's table: shapes that were not timed here keep its rows."""

    @property
    def has_prior(self) -> bool:
        """Whether a few rows suffice, since the rest is known from a sister."""
        return self.prior is not None

    def prior_log_ratio(self) -> FloatArray:
        """Return log(measured / form) of all rows by the sister's table; 0 without one."""
        return np.zeros(len(self.tokens)) if self.prior is None else self.log_ratio(self.prior)

    def fit(self, log_errors: FloatArray, rows: Mask) -> ExpertShapes:
        """Return the errors of each shape among some rows, read off at the knots."""
        found: dict[ExpertShape, FloatArray] = {}
        knots = np.log2(np.array(TOKENS))
        errors, order = np.clip(log_errors, -_MOST, _MOST), np.argsort(self.tokens, kind="stable")
        sister = None if self.prior is None else ShapeTable.of(self.prior)
        if sister is not None:
            found = {shape: sister.curve(shape).at(knots) for shape in sister.shapes}
        for group in np.unique(self.groups[rows]):
            shape = self.shapes[group]
            mine = order[(self.groups[order] == group) & rows[order]]
            at = np.log2(self.tokens[mine])
            curve = None if sister is None else sister.curve(shape)
            left = errors[mine] if curve is None else errors[mine] - curve.at(at)
            row = np.interp(knots, at, left)
            found[shape] = row if curve is None else row + curve.at(knots)
        return ExpertShapes(
            tokens=TOKENS, shapes="\n".join(_line(shape, row) for shape, row in found.items())
        )

    def log_ratio(self, table: Residuals) -> FloatArray:
        """Return log(measured / form) of all rows; shapes that it lacks by their neighbours."""
        if not isinstance(table, ExpertShapes):
            raise TypeError(table)
        read, found = ShapeTable.of(table), np.zeros(len(self.tokens))
        for group in np.unique(self.groups):
            mine = self.groups == group
            found[mine] = np.log(read.curve(self.shapes[group]).factor(self.tokens[mine]))
        return found


def _line(shape: ExpertShape, row: FloatArray) -> str:
    cut = np.clip(row, -_MOST, _MOST)
    numbers = " ".join(str(int(number)) for number in np.rint(100.0 * cut))
    return f"{_facts(shape)} | {numbers}"


def _facts(shape: ExpertShape) -> str:
    sizes = (
        *(shape.hidden, shape.intermediate, shape.experts),
        *(shape.active, shape.expert_parallel, shape.matrices),
    )
    return " ".join(f"{size:g}" for size in sizes)
