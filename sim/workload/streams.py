"""Random streams: one for each purpose, so that one choice never moves the draws of another."""

from zlib import crc32

import numpy as np

from sim.records import FloatArray


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return the random stream of `seed` for one purpose, such as `arrivals` or `acceptance`.

    Two runs of the same seed that differ in one part of the scenario see the same draws in every
    other part (common random numbers), which makes their difference far less noisy.
    """
    return np.random.default_rng([seed, crc32(purpose.encode())])


def open_uniforms(stream: np.random.Generator, count: int) -> FloatArray:
    """Return `count` uniforms strictly between 0 and 1, so that every inverse CDF is finite there.

    The first n are the same however many are drawn.
    """
    draws = stream.integers(0, 1 << 52, size=count).astype(np.float64)
    # 2k + 1 < 2**53 is exact in a double: neither end can be reached by rounding.
    return (2.0 * draws + 1.0) / float(1 << 53)
