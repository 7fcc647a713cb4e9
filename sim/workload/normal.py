"""The standard normal distribution over arrays, without scipy: its import outlasts many a run."""

from math import erfc, sqrt
from statistics import NormalDist

import numpy as np

from sim.records import FloatArray

_HALF_ROOT = 1.0 / sqrt(2.0)


def normal_cdf(score: float) -> float:
    """Return P(Z <= score) of a standard normal Z; accurate in the lower tail as well."""
    return 0.5 * erfc(-score * _HALF_ROOT)


def normal_cdfs(scores: FloatArray) -> FloatArray:
    """Return P(Z <= score), element by element."""
    return np.fromiter(map(normal_cdf, scores.tolist()), np.float64, len(scores))


def normal_scores(ranks: FloatArray) -> FloatArray:
    """Return the z with P(Z <= z) = rank, element by element; needs 0 < rank < 1."""
    return np.fromiter(map(NormalDist().inv_cdf, ranks.tolist()), np.float64, len(ranks))
