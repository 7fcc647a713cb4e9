"""Shapes of routed experts: what makes them alike, and what is likely of one not timed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from sim.records import FloatArray

_MODEL_WEIGHTS = (0.5, 0.5, 0.5, 2.0)
"""Of hidden size, all experts, active ones and matrices, in octaves: what a model fixes."""
_LEVEL = 100.0
"""Variance of the level of all rows: it is not known beforehand."""
_PLANE, _MODEL, _REACH, _NUGGET = 10.0, 0.3, 4.0, 0.05
"""Variance of a plane through all shapes and of what shapes of one model share, how many octaves
neighbours reach, and the variance of a single shape: chosen by cross-validation on shapes other
than those that the fits are judged on."""
_OUTLYING = 0.3
"""A shape that its neighbours miss by more than this, as a logarithm, counts little for others."""
_LEAPING = 0.6
"""A single timing that its neighbours miss by more than this counts little at its tokens."""
_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class ExpertShape:
    """Routed experts as one rank holds them."""

    hidden: float
    intermediate: float
    """Width of an expert after the split over GPUs that share it."""
    experts: float
    active: float
    expert_parallel: float
    matrices: float = 3.0
    """3 where an expert is gated, else 2."""

    @property
    def octaves(self) -> tuple[float, ...]:
        """What makes shapes alike: four sizes that the model fixes, two that the split does."""
        model = self.hidden, self.experts * self.expert_parallel, self.active, self.matrices
        weighed = zip(_MODEL_WEIGHTS, model, strict=True)
        split = self.intermediate, self.expert_parallel
        return (*(weight * log2(size) for weight, size in weighed), *map(log2, split))

    @property
    def load_octaves(self) -> float:
        """Tokens that come to an expert for each token of the pass, mean, in octaves."""
        return log2(self.active / (self.experts * self.expert_parallel))


def likely_row(shapes: Sequence[ExpertShape], rows: FloatArray, wanted: ExpertShape) -> FloatArray:
    """Return the row of a shape that was not timed, from those that were (Matheron 1963).

    Rows are taken as a level, a plane over the octaves of the sizes, what shapes of one model
    share, and what neighbours share. A shape that the others contradict, such as one whose
    autotuning failed, counts less, and so does a single timing. No entry leaves the range of
    the rows.
    """
    alike = _covariance([*shapes, wanted])
    known, towards = alike[:-1, :-1], alike[:-1, -1]
    own = np.full(rows.T.shape, _NUGGET)
    diagonal = np.eye(len(shapes))
    for _ in range(_ROUNDS):
        inverse = np.linalg.inv(known + own[:, :, None] * diagonal)
        missed = np.abs((inverse @ rows.T[:, :, None])[:, :, 0])  # each from all others
        missed /= np.diagonal(inverse, axis1=1, axis2=2)
        contradicted = np.maximum(np.median(missed, axis=0) / _OUTLYING, missed / _LEAPING)
        own = _NUGGET * (1.0 + contradicted**4)
    system = known + own[:, :, None] * diagonal
    weights = np.linalg.solve(system, np.broadcast_to(towards[:, None], (*own.shape, 1)))
    likely = (weights[:, :, 0] * rows.T).sum(axis=1)
    found: FloatArray = np.clip(likely, rows.min(axis=0), rows.max(axis=0))
    return found


def _covariance(shapes: Sequence[ExpertShape]) -> FloatArray:
    """Covariances of the rows of some shapes; the plane is centred on all but the last."""
    at = np.array([shape.octaves for shape in shapes])
    models = at[:, : len(_MODEL_WEIGHTS)]
    alike = np.exp(-np.sqrt(((at[:, None] - at[None]) ** 2).sum(axis=-1)) / _REACH)
    same = (models[:, None] == models[None]).all(axis=-1)
    centred = (at - at[:-1].mean(axis=0)) / _REACH
    found: FloatArray = (
        _LEVEL + _PLANE * centred @ centred.T + alike * np.where(same, 1.0 + _MODEL, 1.0)
    )
    return found
