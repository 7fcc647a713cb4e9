"""One row for each counted request: the Parquet file that other tools read."""

import io
from typing import Any

import numpy as np

from sim.metrics import quantities
from sim.records import FloatArray, RequestRecords, Status
from sim.run import Outcome

_STATUS = np.array([status.name.lower() for status in sorted(Status)])


def request_columns(outcome: Outcome) -> dict[str, Any]:
    """Return the columns of the requests that the metrics count, in order of arrival.

    Warm-up and background requests are left out, so that a percentile of a column is the one in
    the report. Times in s; `arrival_s` and the like are the engine's clock, `ttft_s` and `ttlt_s`
    include the request pipeline. NaN: never happened, or does not exist.
    """
    simulation, pipeline = outcome.simulation, outcome.scenario.pipeline
    start = outcome.metrics.warmup_requests
    records = quantities.rows(simulation.records, slice(start, simulation.measured))
    return {
        "request_id": records.request_id,
        "class": np.array(simulation.class_names)[records.request_class],
        "replica": records.replica,
        "arrival_s": records.arrival_s,
        "admitted_s": records.admitted_s,
        "first_token_s": records.first_token_s,
        "last_token_s": records.last_token_s,
        "input_tokens": records.input_tokens,
        "cached_input_tokens": records.cached_input_tokens,
        "output_tokens": records.output_tokens,
        "status": _STATUS[records.status],
        "preemptions": records.preemptions,
        "ttft_s": _answered(records, quantities.ttft_s(records, pipeline)),
        "tpot_s": _answered(records, quantities.tpot_s(records)),
        "max_gap_s": _answered(records, quantities.max_gap_s(records)),
        "ttlt_s": _answered(records, quantities.ttlt_s(records, pipeline)),
    }


def _answered(records: RequestRecords, column: FloatArray) -> FloatArray:
    """Keep the latencies of finished requests only, as the metrics do."""
    return np.where(quantities.finished(records), column, np.nan)


def requests_parquet(outcome: Outcome) -> bytes:
    """Return the columns as a Parquet file; NaN becomes null."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        name: pa.array(column, from_pandas=True)
        for name, column in request_columns(outcome).items()
    }
    sink = io.BytesIO()
    pq.write_table(pa.table(arrays), sink, compression="zstd")
    return sink.getvalue()
