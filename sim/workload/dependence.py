"""Joint lengths: make the output's rank depend on the input's, and leave it uniform."""

from math import pi, sin, sqrt

import numpy as np

from sim.records import FloatArray
from sim.workload.normal import normal_cdfs, normal_scores


def by_rank_correlation(
    input_ranks: FloatArray, output_ranks: FloatArray, spearman: float
) -> FloatArray:
    """Return the output ranks tied to the input ranks by a Gaussian copula.

    Pearson (1907): a rank correlation `spearman` needs the correlation
    ρ = 2 sin(π spearman / 6) of the normal scores.
    """
    rho = 2.0 * sin(pi * spearman / 6.0)
    return normal_cdfs(
        rho * normal_scores(input_ranks) + sqrt(1.0 - rho * rho) * normal_scores(output_ranks)
    )


def by_rank_table(
    input_ranks: FloatArray, output_ranks: FloatArray, shares: FloatArray
) -> FloatArray:
    """Return the output ranks tied by a table of rank classes (a checkerboard copula).

    `shares[i, j]` is the probability that an output falls into rank class j when its input lies in
    class i, both of k equal classes; inside a cell the two are independent. It keeps a dependence
    that no single correlation can describe, such as longest prompts with the shortest answers.
    """
    size = len(shares)
    classes = (input_ranks * size).astype(np.int64)
    edges = np.linspace(0.0, 1.0, size + 1)
    tied = np.empty_like(output_ranks)
    for row in range(size):
        here = classes == row
        tied[here] = np.interp(
            output_ranks[here], np.concatenate(([0.0], np.cumsum(shares[row]))), edges
        )
    return tied
