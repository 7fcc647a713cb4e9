"""The figures that a benchmark's client would have printed for a simulated run."""

import numpy as np

from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import engine_ttft_s, finished, rows, tpot_s, ttlt_s
from sim.records import FloatArray, Simulation, WeightedSamples
from sim.units import MS_PER_S


def figures_of(simulation: Simulation) -> dict[str, float] | None:
    """Return every figure by its name; None where a request could not be answered.

    Over all requests, ramp-up and end included, as the clients do; rates over the time from the
    first request to the last token.
    """
    records = rows(simulation.records, slice(0, simulation.measured))
    if not finished(records).all():
        return None
    ttlt = ttlt_s(records, Pipeline())
    found = {
        **_three("ttft", engine_ttft_s(records)),
        **_three("tpot", tpot_s(records)),
        **_three("ttlt", ttlt),
        **_three("per_token", ttlt / records.output_tokens),
        **_gaps(simulation.gaps),
    }
    lasting_s = float(records.last_token_s.max() - records.arrival_s.min())
    found["output_tokens_per_s"] = float(records.output_tokens.sum()) / lasting_s
    found["requests_per_s"] = len(records) / lasting_s
    return found


def _three(name: str, values_s: FloatArray) -> dict[str, float]:
    known = values_s[~np.isnan(values_s)] * MS_PER_S
    if not len(known):
        return {}
    median, p99 = np.quantile(known, [0.5, 0.99])
    return {
        f"{name}_mean_ms": float(known.mean()),
        f"{name}_median_ms": float(median),
        f"{name}_p99_ms": float(p99),
    }


def _gaps(gaps: WeightedSamples) -> dict[str, float]:
    """Return mean, median and 99th percentile over all gaps between visible chunks."""
    total = float(gaps.weights.sum()) if len(gaps.weights) else 0.0
    if total <= 0:
        return {}
    order = np.argsort(gaps.values)
    values, share = gaps.values[order] * MS_PER_S, np.cumsum(gaps.weights[order]) / total
    places = np.minimum(np.searchsorted(share, np.array([0.5, 0.99])), len(values) - 1)
    median, p99 = (float(value) for value in values[places])
    mean = float((gaps.values * gaps.weights).sum() / total) * MS_PER_S
    return {"itl_mean_ms": mean, "itl_median_ms": median, "itl_p99_ms": p99}
