"""Where the start of a run stops colouring it."""

import numpy as np

from sim.records import FloatArray

GROUP = 5


def mser5(series: FloatArray) -> int:
    """Return how many values to cut from the front: MSER-5, at most half of them.

    Means of five successive values are cut at the point that makes the standard error of the mean
    of the rest least: min over d of sum((y_i - mean)^2, i >= d) / (k - d)^2 (White 1997; groups of
    five: White, Cobb and Spratt 2000).

    >>> mser5(np.array([9.0] * 10 + [1.0] * 20 + [2.0] * 20))
    10
    """
    groups = len(series) // GROUP
    if groups < 2:
        return 0
    means = series[: groups * GROUP].reshape(groups, GROUP).mean(axis=1)
    # Centred first, so that the difference of squares below does not cancel.
    level = float(means.mean())
    means = means - level
    kept = np.arange(groups, 0, -1, dtype=np.float64)
    total = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum((means**2)[::-1])[::-1]
    error = (squares - total**2 / kept) / kept**2
    candidates = error[: groups // 2 + 1]
    # Rounding alone must not choose a cut in a series that is constant.
    rounding = 1e-12 * level**2 / groups
    return GROUP * int(np.argmax(candidates <= candidates.min() + rounding))


def warmup_requests(ttlt_s: FloatArray) -> int:
    """Return how many requests to cut, from TTLTs [s] in order of arrival; NaN: unfinished.

    A run starts empty, so what warms up is fast. A cut that would take away slower requests than
    it leaves has found a burst, which is part of the steady state, and is not made: at 90 % load
    such cuts would lower the mean by 4 % (M/M/1, 20,000 requests).
    """
    places = np.flatnonzero(~np.isnan(ttlt_s))
    series = ttlt_s[places]
    cut = mser5(series)
    if cut == 0 or series[:cut].mean() >= series[cut:].mean():
        return 0
    return int(places[cut])
