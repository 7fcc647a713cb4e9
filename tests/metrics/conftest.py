"""Simulations written by hand: what an engine would have recorded."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from sim.records import (
    Leaps,
    RequestRecords,
    Simulation,
    Status,
    StepSeries,
    WeightedSamples,
)

Times = Sequence[float]


def records_of(
    arrival_s: Times,
    *,
    last_token_s: Times,
    admitted_s: Times | None = None,
    first_token_s: Times | None = None,
    **columns: Sequence[float],
) -> RequestRecords:
    """Ten tokens in, five out, one a chunk, all finished, unless told otherwise."""
    n = len(arrival_s)
    whole = {
        "request_id": np.arange(n),
        "replica": np.zeros(n),
        "input_tokens": np.full(n, 10),
        "cached_input_tokens": np.zeros(n),
        "output_tokens": np.full(n, 5),
        "status": np.full(n, Status.FINISHED),
        "preemptions": np.zeros(n),
        **{name: np.asarray(column) for name, column in columns.items()},
    }
    chunks = whole.pop("chunks", whole["output_tokens"])
    gap = whole.pop("max_gap_s", np.where(chunks > 1, 0.5, np.nan))
    admitted = arrival_s if admitted_s is None else admitted_s
    first = admitted if first_token_s is None else first_token_s
    return RequestRecords(
        arrival_s=np.asarray(arrival_s, dtype=np.float64),
        admitted_s=np.asarray(admitted, dtype=np.float64),
        first_token_s=np.asarray(first, dtype=np.float64),
        last_token_s=np.asarray(last_token_s, dtype=np.float64),
        chunks=np.asarray(chunks, dtype=np.int64),
        max_gap_s=np.asarray(gap, dtype=np.float64),
        **{name: column.astype(np.int64) for name, column in whole.items()},
    )


def leaps_of(start_s: Times, duration_s: Times, prefill_s: Times) -> Leaps:
    """One pass a leap."""
    n = len(start_s)
    zero = np.zeros(n)
    return Leaps(
        replica=np.zeros(n, dtype=np.int64),
        start_s=np.asarray(start_s, dtype=np.float64),
        first_s=np.asarray(duration_s, dtype=np.float64),
        slope_s=zero,
        passes=np.ones(n, dtype=np.int64),
        sequences=zero,
        positions=zero,
        logit_positions=zero,
        context_tokens=zero,
        pairs=zero,
        kv_used_tokens=zero,
        prefill_s=np.asarray(prefill_s, dtype=np.float64),
        draft_s=zero,
    )


def inside_of(records: RequestRecords) -> StepSeries:
    """Count the requests inside, from arrivals and last tokens."""
    came = records.arrival_s[records.status != Status.REJECTED]
    went = records.last_token_s[records.status == Status.FINISHED]
    times = np.concatenate([came, went])
    order = np.argsort(times, kind="stable")
    change = np.concatenate([np.ones(len(came)), -np.ones(len(went))])[order]
    return StepSeries(times[order], np.cumsum(change).astype(np.int64))


def simulation_of(records: RequestRecords, **facts: Any) -> Simulation:
    """One replica, no background, no leaps, unless told otherwise."""
    gaps = records.max_gap_s[~np.isnan(records.max_gap_s)]
    whole: dict[str, Any] = {
        "measured": len(records),
        "steady_state": False,
        "closed_loop": False,
        "gaps": WeightedSamples(gaps, np.ones(len(gaps))),
        "in_system": inside_of(records),
        "leaps": leaps_of([], [], []),
        "replicas": 1,
        "kv_pool_tokens": 1000,
        "kv_peak_share": 0.5,
        "events": 0,
        **facts,
    }
    return Simulation(records=records, **whole)


@pytest.fixture
def a_records() -> Callable[..., RequestRecords]:
    return records_of


@pytest.fixture
def a_simulation() -> Callable[..., Simulation]:
    return simulation_of


@pytest.fixture
def some_leaps() -> Callable[..., Leaps]:
    return leaps_of
