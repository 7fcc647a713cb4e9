"""Throughput: what finishes in the window."""

import numpy as np

from sim.metrics.intervals import Interval, around, batch_count
from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import finished, rows, user_tokens_per_s
from sim.metrics.result import Throughput
from sim.metrics.summary import median_with_interval
from sim.metrics.window import Window
from sim.records import FloatArray, RequestRecords


def throughput(
    records: RequestRecords,
    counted: RequestRecords,
    window: Window | None,
    *,
    pipeline: Pipeline,
    gpus: int,
    seed: int,
    withhold_speed: bool,
) -> Throughput:
    """Return rates over the window, and the median user speed of the counted requests."""
    speed, speed_interval = None, None
    if not withhold_speed:
        answered = rows(counted, finished(counted))
        speed, speed_interval = median_with_interval(user_tokens_per_s(answered, pipeline), seed)
    if window is None:
        return Throughput(
            *(None,) * 5,
            speed,
            None,
            None,
            speed_interval,
            requests=0,
            input_tokens=0,
            output_tokens=0,
        )
    length_s = window.length_s
    done = rows(records, window.completions(records))
    output_tokens, input_tokens = int(done.output_tokens.sum()), int(done.input_tokens.sum())
    return Throughput(
        offered_requests_per_s=int(window.arrivals(counted).sum()) / length_s,
        requests_per_s=len(done) / length_s,
        input_tokens_per_s=input_tokens / length_s,
        output_tokens_per_s=output_tokens / length_s,
        output_tokens_per_s_per_gpu=output_tokens / length_s / gpus,
        user_tokens_per_s=speed,
        interval_requests_per_s=_rate_interval(done, np.ones(len(done)), window),
        interval_output_tokens_per_s=_rate_interval(
            done, done.output_tokens.astype(np.float64), window
        ),
        interval_user_tokens_per_s=speed_interval,
        requests=len(done),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
    )


def _rate_interval(done: RequestRecords, amounts: FloatArray, window: Window) -> Interval | None:
    """Return the 90 % interval of a rate from slices of the window of equal length."""
    slices = batch_count(len(done))
    if not slices:
        return None
    place = (done.last_token_s - window.start_s) / window.length_s * slices
    # What finishes at the very end of the window belongs to the last slice.
    which = np.minimum(place.astype(np.int64), slices - 1)
    sums = np.bincount(which, weights=amounts, minlength=slices)
    return around(float(amounts.sum()) / window.length_s, sums * slices / window.length_s)
