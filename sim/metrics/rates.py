"""Throughput: what is offered in one window and what finishes in another."""

import numpy as np

from sim.metrics.intervals import Interval, batch_count, rate_interval
from sim.metrics.pipeline import Pipeline
from sim.metrics.quantities import finished, rows, user_tokens_per_s
from sim.metrics.result import Throughput
from sim.metrics.summary import median_with_interval
from sim.metrics.window import Window
from sim.records import FloatArray, IntArray, RequestRecords


def throughput(
    records: RequestRecords,
    counted: RequestRecords,
    *,
    arriving: Window | None,
    finishing: Window | None,
    pipeline: Pipeline,
    gpus: int,
    seed: int | None,
    withhold_speed: bool,
) -> Throughput:
    """Return rates over the windows, and the median user speed of the counted requests.

    `arriving` is that of the counted arrivals, `finishing` the one in which completions count.
    `seed` is that of the bootstrap; `None`: no intervals.
    """
    done = rows(records, slice(0) if finishing is None else finishing.completions(records))
    output_tokens, input_tokens = int(done.output_tokens.sum()), int(done.input_tokens.sum())
    offered = None if arriving is None else _offered_per_s(counted)
    speed, speed_interval = None, None
    if not withhold_speed:
        answered = rows(counted, finished(counted))
        speed, speed_interval = median_with_interval(user_tokens_per_s(answered, pipeline), seed)
    in_slices = None if seed is None else finishing
    return Throughput(
        offered_requests_per_s=offered,
        requests_per_s=_per_s(len(done), finishing),
        input_tokens_per_s=_per_s(input_tokens, finishing),
        output_tokens_per_s=_per_s(output_tokens, finishing),
        output_tokens_per_s_per_gpu=_per_s(output_tokens / gpus, finishing),
        user_tokens_per_s=speed,
        interval_requests_per_s=_interval(done, np.ones(len(done)), in_slices),
        interval_output_tokens_per_s=_interval(done, done.output_tokens, in_slices),
        interval_user_tokens_per_s=speed_interval,
        requests=len(done),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
    )


def _offered_per_s(counted: RequestRecords) -> float | None:
    """Return the gaps between the counted arrivals per second; `None` where all come at once.

    That of a trace is its own rate, however long its last answers take.
    """
    arrivals_s = counted.arrival_s[~np.isnan(counted.arrival_s)]
    span_s = float(arrivals_s.max() - arrivals_s.min())
    return (len(arrivals_s) - 1) / span_s if span_s > 0 else None


def _per_s(amount: float | None, window: Window | None) -> float | None:
    """Return an amount per second of a window; `None` where there is none."""
    return None if window is None or amount is None else amount / window.length_s


def _interval(
    done: RequestRecords, amounts: FloatArray | IntArray, window: Window | None
) -> Interval | None:
    """Return the 90 % interval of a rate from slices of the window of equal length."""
    slices = batch_count(len(done))
    if window is None or not slices:
        return None
    place = (done.last_token_s - window.start_s) / window.length_s * slices
    # What finishes at the very end of the window belongs to the last slice.
    which = np.minimum(place.astype(np.int64), slices - 1)
    sums = np.bincount(which, weights=amounts.astype(np.float64), minlength=slices)
    return rate_interval(sums * slices / window.length_s)
