"""Time later: counts to seconds with the fitted losses of a profile."""

from typing import TypeAlias, TypeVar

import numpy as np

from sim.records import FloatArray

Number = TypeVar("Number", float, FloatArray)
Figures: TypeAlias = float | FloatArray
"""One figure, or one for each of many rows."""


def smooth_roofline_s(
    *,
    flop: Figures,
    bytes_moved: Figures,
    flop_per_s: float,
    bytes_per_s: float,
    fixed_s: Figures,
    p: float,
) -> Figures:
    """Return `fixed + ((F/P)^p + (B/BW)^p)^(1/p)`: a roofline whose corner is rounded by `p`.

    `p` to infinity is the hard roofline, max(F/P, B/BW) (Williams et al. 2009). Works on single
    figures and on arrays; something must be done: F or B above 0.

    >>> rates = {"flop_per_s": 1e12, "bytes_per_s": 1e9}
    >>> float(smooth_roofline_s(flop=3e12, bytes_moved=4e9, **rates, fixed_s=1.0, p=2.0))
    6.0
    """
    compute_s, memory_s = flop / flop_per_s, bytes_moved / bytes_per_s
    longer = np.maximum(compute_s, memory_s)
    shorter = np.minimum(compute_s, memory_s)
    seconds: Figures = fixed_s + longer * (1.0 + (shorter / longer) ** p) ** (1.0 / p)
    return seconds
