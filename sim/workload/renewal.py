"""Arrivals at unit rate whose gaps have a given coefficient of variation."""

import numpy as np

from sim.records import FloatArray


def unit_gaps(count: int, cv: float, stream: np.random.Generator) -> FloatArray:
    """Return gaps of mean 1: gamma of shape 1/cv², exponential where `cv` is 1, equal where 0."""
    if cv == 0:
        return np.ones(count)
    if cv == 1:
        return stream.standard_exponential(count)
    shape = cv**-2.0
    return np.asarray(stream.standard_gamma(shape, count) / shape, np.float64)


def unit_times(count: int, cv: float, stream: np.random.Generator) -> FloatArray:
    """Return arrival times at unit rate, the first after one gap."""
    return np.cumsum(unit_gaps(count, cv, stream))


def unit_times_within(length: float, cv: float, stream: np.random.Generator) -> FloatArray:
    """Return the arrivals in a stretch of a process that has long been going on.

    There are `length` of them on average. The time to the first is what is left of a gap in which
    the stretch begins somewhere: a share of a gap drawn by its length (the equilibrium renewal
    process; Cox, 1962). For a gamma of shape k, a gap drawn by its length is a gamma of shape
    k + 1.
    """
    place = stream.random()
    if cv == 0:
        first = place
    else:
        shape = cv**-2.0
        first = place * stream.standard_gamma(shape + 1) / shape
    parts, reached = [np.array([first])], first
    while reached < length:
        more = int(length - reached + 4 * cv * np.sqrt(length - reached)) + 8
        part = reached + unit_times(more, cv, stream)
        parts.append(part)
        reached = float(part[-1])
    times = np.concatenate(parts)
    return times[times < length]
