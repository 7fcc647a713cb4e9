"""An empirical distribution of token counts, kept as a table of quantiles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class QuantileTable:
    """Token counts at rising probabilities from 0 (shortest) to 1 (longest), linear in between."""

    probabilities: FloatArray
    tokens: FloatArray

    @classmethod
    def of(cls, probabilities: Sequence[float], tokens: Sequence[float]) -> "QuantileTable":
        """Return a checked table, or raise `ValueError` in one sentence."""
        p, q = np.asarray(probabilities, np.float64), np.asarray(tokens, np.float64)
        if len(p) != len(q):
            raise ValueError(f"has {len(p)} probabilities for {len(q)} token counts")
        if len(p) < 2 or p[0] != 0 or p[-1] != 1:
            raise ValueError(
                "needs the quantiles at 0 and 1, the shortest and longest: nothing is guessed"
            )
        if np.any(np.diff(p) <= 0):
            raise ValueError("needs probabilities that rise")
        fall = np.flatnonzero(np.diff(q) < 0)
        if len(fall):
            i = int(fall[0])
            pair = f"{q[i]:g} tokens at {p[i]:g}, {q[i + 1]:g} at {p[i + 1]:g}"
            raise ValueError(f"has quantiles that fall: {pair}")
        return cls(p, q)

    def tokens_at(self, ranks: FloatArray) -> IntArray:
        """Return the inverse CDF at `ranks`, rounded to whole tokens."""
        return np.rint(np.interp(ranks, self.probabilities, self.tokens)).astype(np.int64)

    @property
    def mean(self) -> float:
        """Mean, tokens: the area under the piecewise linear inverse CDF."""
        return float(np.trapezoid(self.tokens, self.probabilities))
