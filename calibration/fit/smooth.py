"""How rough a table of residuals is: what a smooth one is penalised for."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from sim.hardware.residual import Coordinate
from sim.records import FloatArray


@dataclass(frozen=True, slots=True)
class Smoothness:
    """How firmly the knots along one axis go on like their neighbours."""

    weight: float
    """Points' worth of belief."""
    order: Literal[1, 2] = 2
    """1: a knot is like the next one; 2: knots lie on a straight line (over octaves)."""


def roughness(
    knots: Mapping[Coordinate, tuple[float, ...]], smooth: Mapping[Coordinate, Smoothness]
) -> FloatArray:
    """Return the matrix R of a penalty v'Rv on the values v at the knots of a grid.

    The squared differences of neighbours along each axis (Eilers and Marx 1996), of lines or of
    levels.
    """
    total = np.zeros((1, 1))
    for name, at in knots.items():
        own = np.zeros((len(at), len(at)))
        if name in smooth:
            order = smooth[name].order if len(at) > 2 else 1
            differences = _bends(at) if order == 2 else _steps(at)
            own = smooth[name].weight * differences.T @ differences
        total = np.kron(total, np.eye(len(at))) + np.kron(np.eye(len(total)), own)
    return total


def _steps(at: tuple[float, ...]) -> FloatArray:
    """Differences of neighbours; those far apart may differ more."""
    octaves = np.log2(at)
    rows = np.diff(np.eye(len(at)), axis=0)
    found: FloatArray = rows / np.maximum(1.0, np.diff(octaves))[:, None]
    return found


def _bends(at: tuple[float, ...]) -> FloatArray:
    """Second divided differences over octaves; steps below an octave count less."""
    octaves = np.log2(at)
    found = np.zeros((len(at) - 2, len(at)))
    for row in range(len(found)):
        left, right = octaves[row + 1] - octaves[row], octaves[row + 2] - octaves[row + 1]
        bend = 2.0 * np.array(
            [1.0 / (left * (left + right)), -1.0 / (left * right), 1.0 / (right * (left + right))]
        )
        found[row, row : row + 3] = min(1.0, left * right) * bend
    return found


def solve_blocks(matrix: FloatArray, right: FloatArray, block: int) -> FloatArray:
    """Return x of `matrix @ x = right`, where blocks touch their neighbours only.

    Elimination by blocks: knots along the first axis of a grid touch the next ones alone, and a
    table of 22 x 64 knots is solved a hundred times as fast as a full matrix of its size.
    """
    edges = [*range(0, len(right), block), len(right)]
    parts = [slice(begin, end) for begin, end in pairwise(edges)]
    own = [matrix[part, part] for part in parts]
    left = [right[part] for part in parts]
    for i in range(1, len(parts)):
        above = matrix[parts[i - 1], parts[i]]
        factor = np.linalg.solve(own[i - 1].T, matrix[parts[i], parts[i - 1]].T).T
        own[i] = own[i] - factor @ above
        left[i] = left[i] - factor @ left[i - 1]
    found = np.empty(len(right))
    found[parts[-1]] = np.linalg.solve(own[-1], left[-1])
    for i in range(len(parts) - 2, -1, -1):
        known = matrix[parts[i], parts[i + 1]] @ found[parts[i + 1]]
        found[parts[i]] = np.linalg.solve(own[i], left[i] - known)
    return found
