"""Latencies of each request as columns, s: NaN where a request has none.

They read records only, so they serve measured runs as well as simulated ones.
"""

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from sim.metrics.pipeline import Pipeline
from sim.records import FloatArray, RequestRecords, Status

BoolArray = NDArray[np.bool_]


def rows(records: RequestRecords, which: slice | BoolArray) -> RequestRecords:
    """Return some of the records; no copies where they are all there is."""
    if not isinstance(which, slice) and which.all():
        return records
    return RequestRecords(*(getattr(records, field.name)[which] for field in fields(records)))


def finished(records: RequestRecords) -> BoolArray:
    """Tell which requests were answered in full."""
    return np.asarray(records.status == Status.FINISHED)


def engine_ttft_s(records: RequestRecords) -> FloatArray:
    """Return the time from arrival at the engine to the first visible token [s]."""
    return records.first_token_s - records.arrival_s


def ttft_s(records: RequestRecords, pipeline: Pipeline) -> FloatArray:
    """Return the time to first token as the user sees it [s]: engine plus pipeline."""
    return engine_ttft_s(records) + pipeline.total_s


def engine_ttlt_s(records: RequestRecords) -> FloatArray:
    """Return the time from arrival at the engine to the last token [s]."""
    return records.last_token_s - records.arrival_s


def ttlt_s(records: RequestRecords, pipeline: Pipeline) -> FloatArray:
    """Return the time to last token as the user sees it [s]: engine plus pipeline."""
    return engine_ttlt_s(records) + pipeline.total_s


def tpot_s(records: RequestRecords) -> FloatArray:
    """Return (last - first visible token) / (output tokens - 1) [s].

    NaN for answers of one token and for answers that arrived in one chunk.
    """
    spaced = (records.output_tokens > 1) & (records.chunks != 1)
    intervals = np.where(spaced, records.output_tokens - 1, 1)
    return np.where(spaced, (records.last_token_s - records.first_token_s) / intervals, np.nan)


def max_gap_s(records: RequestRecords) -> FloatArray:
    """Return the longest wait between two visible chunks [s]; NaN for answers of one chunk."""
    return np.where(records.chunks == 1, np.nan, records.max_gap_s)


def latency_columns(records: RequestRecords, pipeline: Pipeline) -> dict[str, FloatArray]:
    """Return every latency per request [s], by name."""
    return {
        "engine_ttft": engine_ttft_s(records),
        "ttft": ttft_s(records, pipeline),
        "tpot": tpot_s(records),
        "max_gap": max_gap_s(records),
        "ttlt": ttlt_s(records, pipeline),
    }


def user_tokens_per_s(records: RequestRecords, pipeline: Pipeline) -> FloatArray:
    """Return output tokens / TTLT [tokens/s]: the speed that means the same for every strategy."""
    time_s = ttlt_s(records, pipeline)
    positive = time_s > 0
    return np.where(positive, records.output_tokens / np.where(positive, time_s, 1.0), np.nan)
