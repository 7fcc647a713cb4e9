"""The standard normal distribution over arrays, without scipy: its import outlasts many a run."""

from collections.abc import Sequence
from math import erfc, sqrt
from typing import Final

import numpy as np

from sim.records import FloatArray

_HALF_ROOT = 1.0 / sqrt(2.0)

# Wichura (1988), AS 241, PPND16: coefficients of numerator and denominator, highest power first
_CENTRE: Final = (
    (
        *(2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4),
        *(4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3),
        *(1.3314166789178437745e2, 3.3871328727963666080e0),
    ),
    (
        *(5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4),
        *(2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2),
        *(4.2313330701600911252e1, 1.0),
    ),
)
_TAIL: Final = (
    (
        *(7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1),
        *(1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0),
        *(4.63033784615654529590e0, 1.42343711074968357734e0),
    ),
    (
        *(1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2),
        *(1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0),
        *(2.05319162663775882187e0, 1.0),
    ),
)
_FAR_TAIL: Final = (
    (
        *(2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3),
        *(2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0),
        *(5.46378491116411436990e0, 6.65790464350110377720e0),
    ),
    (
        *(2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5),
        *(7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1),
        *(5.99832206555887937690e-1, 1.0),
    ),
)


def normal_cdf(score: float) -> float:
    """Return P(Z <= score) of a standard normal Z; accurate in the lower tail as well."""
    return 0.5 * erfc(-score * _HALF_ROOT)


def normal_cdfs(scores: FloatArray) -> FloatArray:
    """Return P(Z <= score), element by element."""
    return np.fromiter(map(normal_cdf, scores.tolist()), np.float64, len(scores))


def normal_scores(ranks: FloatArray) -> FloatArray:
    """Return the z with P(Z <= z) = rank, element by element; needs 0 < rank < 1."""
    from_middle = ranks - 0.5
    scores = _ratio(_CENTRE, 0.180625 - from_middle * from_middle, times=from_middle)
    outer = np.flatnonzero(np.abs(from_middle) > 0.425)
    side = np.minimum(ranks[outer], 1.0 - ranks[outer])
    depth = np.sqrt(-np.log(side))
    tails = np.where(depth <= 5.0, _ratio(_TAIL, depth - 1.6), _ratio(_FAR_TAIL, depth - 5.0))
    scores[outer] = np.copysign(tails, from_middle[outer])
    return scores


def _ratio(
    coefficients: tuple[Sequence[float], Sequence[float]],
    x: FloatArray,
    *,
    times: FloatArray | float = 1.0,
) -> FloatArray:
    above, below = (_polynomial(factors, x) for factors in coefficients)
    return above * times / below  # in this order: to the last bit what `NormalDist` returns


def _polynomial(factors: Sequence[float], x: FloatArray) -> FloatArray:
    """Return the polynomial with these factors, highest power first (Horner)."""
    total = np.full_like(x, factors[0])
    for factor in factors[1:]:
        total *= x
        total += factor
    return total
