"""How many experts a pass hits, and how much more than the mean the busiest rank gets."""

from dataclasses import dataclass
from functools import lru_cache
from math import erf, exp, sqrt

import numpy as np

from sim.records import FloatArray

_EXACT_BELOW = 64.0


@dataclass(frozen=True, slots=True)
class Routing:
    """`active` of `experts` are chosen for each token; they are spread over `ranks`.

    With `skew` 0 all experts are equally likely; else expert i (from 1) has a share of i^-skew.
    """

    experts: int
    active: int
    ranks: int = 1
    skew: float = 0.0

    def hits(self, tokens: float) -> float:
        """Return the expected number of distinct experts that `tokens` tokens hit.

        E (1 - (1 - k/E)^M) under uniform routing: each token misses an expert with 1 - k/E.
        """
        if not self.skew:
            return float(self.experts * (1.0 - (1.0 - self.active / self.experts) ** tokens))
        return float((1.0 - (1.0 - _chances(self)) ** tokens).sum())

    def busiest_hits(self, tokens: float) -> float:
        """Return the expected hits of the rank that must read the most experts: one at least.

        By luck, as if all experts were alike, or by popularity, whichever gives more.
        """
        hits = self.hits(tokens)
        if self.ranks == 1:
            return hits
        own = self.experts / self.ranks
        chance = max(1.0, _largest_binomial(round(own), hits / self.experts, self.ranks))
        if not self.skew:
            return min(own, chance)
        by_rank = _by_rank(1.0 - (1.0 - _chances(self)) ** tokens, self.ranks)
        return min(own, max(chance, float(by_rank.max())))

    def busiest_share(self, tokens: float) -> float:
        """Return the expected load of the busiest rank over the mean (1: evenly spread).

        The loads are taken as independent Poisson counts: at one token, eight experts and eight
        ranks the busiest has 2.6 times the mean. It has one choice at least.
        """
        if self.ranks == 1:
            return 1.0
        mean = tokens * self.active / self.ranks
        chance = max(1.0, _largest_poisson(mean, self.ranks)) / mean
        if not self.skew:
            return chance
        by_rank = _by_rank(_chances(self), self.ranks)
        return max(chance, float(by_rank.max() / by_rank.mean()))


@lru_cache(maxsize=256)
def _chances(routing: Routing) -> FloatArray:
    """Chance that a token chooses each expert; the sum is `active`."""
    weights = np.arange(1, routing.experts + 1, dtype=np.float64) ** -routing.skew
    chances: FloatArray = weights * routing.active / weights.sum()
    while (over := chances > 1.0).any():  # a token takes an expert once at most
        free = ~over & (chances < 1.0)
        chances[over], missing = 1.0, chances[over].sum() - over.sum()
        chances[free] += missing * chances[free] / chances[free].sum()
    return chances


def _by_rank(per_expert: FloatArray, ranks: int) -> FloatArray:
    """Add up over ranks, experts dealt out in turn, popular ones first."""
    return np.array([per_expert[rank::ranks].sum() for rank in range(ranks)])


def _largest_poisson(mean: float, ranks: int) -> float:
    """Return the expected maximum of `ranks` independent Poisson counts."""
    if mean >= _EXACT_BELOW:
        return mean + sqrt(mean) * _largest_normal(ranks)
    expected, below, term, count = 0.0, 0.0, exp(-mean), 0
    while below < 1.0 - 1e-12 and count < 1000:
        below = min(1.0, below + term)
        expected += 1.0 - below**ranks
        count += 1
        term *= mean / count
    return expected


def _largest_binomial(trials: int, chance: float, ranks: int) -> float:
    """Return the expected maximum of `ranks` independent binomial counts."""
    if chance <= 0.0:
        return 0.0
    if chance >= 1.0:
        return float(trials)
    spread = sqrt(trials * chance * (1.0 - chance))
    if spread > 8.0:
        return trials * chance + spread * _largest_normal(ranks)
    if chance > 0.5:  # count the misses: all but the fewest are hits, and no term underflows
        return trials - _extreme_binomial(trials, 1.0 - chance, ranks, least=True)
    return _extreme_binomial(trials, chance, ranks, least=False)


def _extreme_binomial(trials: int, chance: float, ranks: int, *, least: bool) -> float:
    """Return the expected minimum or maximum of `ranks` independent binomial counts."""
    expected, below, term = 0.0, 0.0, (1.0 - chance) ** trials
    odds = chance / (1.0 - chance)
    for count in range(trials):
        below = min(1.0, below + term)
        expected += (1.0 - below) ** ranks if least else 1.0 - below**ranks
        term *= odds * (trials - count) / (count + 1)
    return expected


@lru_cache(maxsize=64)
def _largest_normal(ranks: int) -> float:
    """Return the expected maximum of `ranks` standard normal draws."""
    grid = np.linspace(-8.0, 8.0, 4001)
    below = np.array([0.5 * (1.0 + erf(x / sqrt(2.0))) for x in grid]) ** ranks
    return float(8.0 - np.trapezoid(below, grid))
