"""Percentiles of the requests of several runs together, with a bootstrap over the runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sim.metrics.intervals import (
    LEAST_PER_BATCH,
    MOST_BATCHES,
    USUAL_BATCHES,
    Interval,
    batch_labels,
    correlation_factor,
)
from sim.metrics.percentiles import Batches, needed, percentile
from sim.records import FloatArray, IntArray, WeightedSamples

MOST_GAPS: Final = 4_096
"""Points that stand for the gaps of one run."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Values of several runs, one run after the other, and the order that sorts them."""

    values: FloatArray
    order: NDArray[np.int64]
    sizes: IntArray

    @classmethod
    def of(cls, columns: Sequence[FloatArray]) -> "Pool":
        """Put the runs together."""
        values = np.concatenate(columns)
        return cls(values, np.argsort(values), np.array([len(column) for column in columns]))

    def batches(self) -> tuple[IntArray, IntArray]:
        """Return the batch of each value, and the run of each batch.

        A batch is a run; or, where there are fewer than eight runs, as large a part of one as
        makes some 25 in all.
        """
        labels, owners, before = [], [], 0
        for run, size in enumerate(self.sizes.tolist()):
            wanted = 1 if len(self.sizes) >= USUAL_BATCHES else MOST_BATCHES // len(self.sizes)
            parts = max(1, min(wanted, size // LEAST_PER_BATCH))
            labels.append(before + batch_labels(size, parts))
            owners.append(np.full(parts, run))
            before += parts
        return np.concatenate(labels), np.concatenate(owners)


def pooled_percentile(pool: Pool, share: float, seed: int) -> tuple[float | None, Interval | None]:
    """Return a percentile of all values and its 90 % interval; `None` for too few values."""
    if len(pool.values) < needed(share):
        return None, None
    value = percentile(pool.values[pool.order], share)
    labels, owners = pool.batches()
    if len(owners) < 2:
        return value, None
    batches = Batches.of(pool.values, pool.order, labels, lambda counts: _likeness(counts, owners))
    return value, batches.interval(share, seed)


def _likeness(counts: FloatArray, owners: IntArray) -> float:
    """Return by how much batches of the same run that are alike raise the variance.

    Runs themselves are independent, so neighbours of different runs say nothing.
    """
    if len(np.unique(owners)) == len(owners):
        return 1.0
    if len(np.unique(owners)) == 1:
        return correlation_factor(counts)
    deviations = counts - counts.mean()
    total = float(deviations @ deviations)
    same = owners[1:] == owners[:-1]
    if total == 0 or not same.any():
        return 1.0
    # As many pairs as are compared, of all that there are.
    pairs = float((deviations[1:] * deviations[:-1])[same].sum())
    r = min(pairs / total * len(counts) / (int(same.sum()) + 1), 0.95)
    return (1 + r) / (1 - r) if r > 0 else 1.0


def condensed(samples: WeightedSamples) -> WeightedSamples:
    """Return a distribution of gaps [s] as at most 4,096 points of equal weight, means kept."""
    if len(samples.values) <= MOST_GAPS:
        return samples
    order = np.argsort(samples.values)
    values, weights = samples.values[order], samples.weights[order]
    reached = np.cumsum(weights)
    total = float(reached[-1])
    if total == 0:
        return WeightedSamples(np.zeros(0), np.zeros(0))
    cell = np.minimum((reached - weights / 2) / total * MOST_GAPS, MOST_GAPS - 1).astype(np.int64)
    weight = np.bincount(cell, weights=weights, minlength=MOST_GAPS)
    value = np.bincount(cell, weights=weights * values, minlength=MOST_GAPS)
    kept = weight > 0
    means: FloatArray = value[kept].astype(np.float64) / weight[kept]
    return WeightedSamples(means, weight[kept].astype(np.float64))
