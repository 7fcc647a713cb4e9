"""From a recorded trace to the statistics of a workload preset."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from sim.records import FloatArray, IntArray
from sim.workload.trace_rows import TraceRows

PROBABILITIES: Final = (
    *(0.0, 0.001, 0.002, 0.005),
    *(step / 100 for step in range(1, 10)),
    *(step / 100 for step in range(10, 90, 2)),
    *(step / 100 for step in range(90, 100)),
    *(0.995, 0.998, 0.999, 0.9995, 1.0),
)
"""Steps of 2 % with finer tails, where long prompts and answers fill the KV pool."""
WINDOWS_S: Final = (1.0, 10.0, 60.0)


def summarise(rows: TraceRows, rank_classes: int = 10) -> dict[str, object]:
    """Return the measured part of a workload preset, in the keys of its file."""
    return {
        "measured_arrivals": _arrivals(rows.arrival_s),
        "probabilities": list(PROBABILITIES),
        "input_tokens": _lengths(rows.input_tokens),
        "output_tokens": _lengths(rows.output_tokens),
        "spearman": spearman(rows.input_tokens, rows.output_tokens),
        "joint_ranks": joint_ranks(rows.input_tokens, rows.output_tokens, rank_classes),
    }


def _arrivals(arrival_s: FloatArray) -> dict[str, object]:
    gaps = np.diff(arrival_s)
    return {
        "requests": len(arrival_s),
        "span_s": float(arrival_s[-1]),
        "requests_per_s": len(gaps) / float(arrival_s[-1]),
        "gap_cv": float(gaps.std() / gaps.mean()),
        "dispersion": {window: dispersion(arrival_s, window) for window in WINDOWS_S},
    }


def _lengths(tokens: IntArray) -> dict[str, object]:
    return {
        "mean": float(tokens.mean()),
        "cv": float(tokens.std() / tokens.mean()),
        "quantiles": np.quantile(tokens, PROBABILITIES).tolist(),
    }


def dispersion(arrival_s: FloatArray, window_s: float) -> float:
    """Return variance / mean of the arrivals per window (index of dispersion; Poisson: 1)."""
    windows = int(arrival_s[-1] // window_s)
    counts = np.histogram(arrival_s, bins=windows, range=(0.0, windows * window_s))[0]
    return float(counts.var(ddof=1) / counts.mean())


def spearman(inputs: IntArray, outputs: IntArray) -> float:
    """Return the rank correlation (Spearman), equal values sharing their mean rank."""
    return float(np.corrcoef(_mean_ranks(inputs), _mean_ranks(outputs))[0, 1])


def _mean_ranks(values: IntArray) -> FloatArray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((last - (counts - 1) / 2)[inverse], np.float64)


def joint_ranks(inputs: IntArray, outputs: IntArray, classes: int) -> list[list[int]]:
    """Return how many requests fall in each pair of rank classes; equal values in file order."""
    table = np.zeros((classes, classes), np.int64)
    np.add.at(table, (_classes(inputs, classes), _classes(outputs, classes)), 1)
    rows: list[list[int]] = table.tolist()
    return rows


def _classes(values: Sequence[int] | IntArray, classes: int) -> IntArray:
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks * classes // len(order)
