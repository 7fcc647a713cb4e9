"""The standard normal distribution over arrays, without scipy: its import outlasts many a run."""

from math import erfc, sqrt
from statistics import NormalDist

import numpy as np

from sim.records import FloatArray

_HALF_ROOT = 1.0 / sqrt(2.0)


def normal_cdf(z: float) -> float:
    """Return P(Z <= z) of a standard normal Z; accurate in the lower tail as well."""
    return 0.5 * erfc(-z * _HALF_ROOT)


def normal_cdfs(z: FloatArray) -> FloatArray:
    """Return P(Z <= z), element by element."""
    return np.fromiter(map(normal_cdf, z.tolist()), np.float64, len(z))


def normal_scores(u: FloatArray) -> FloatArray:
    """Return the z with P(Z <= z) = u, element by element; needs 0 < u < 1."""
    return np.fromiter(map(NormalDist().inv_cdf, u.tolist()), np.float64, len(u))
