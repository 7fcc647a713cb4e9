"""Costs of a run of a few leaps, worked out by hand."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from sim.economics.cost import Cost, price
from sim.economics.price_list import Quote
from sim.metrics.measure import measure
from sim.metrics.pipeline import Pipeline
from sim.metrics.slo import Slo
from sim.records import (
    Leaps,
    RequestRecords,
    Simulation,
    Status,
    StepSeries,
    WeightedSamples,
)

QUOTE = Quote(
    gpu="h100_sxm",
    term="on_demand",
    usd_per_gpu_hour=1.8,
    instance="one",
    gpus_per_instance=1,
    source="an invoice",
    as_of="2026-10",
)


def run_of(
    last_token_s: list[float],
    *,
    start_s: list[float],
    duration_s: list[float],
    prefill_s: list[float],
    **facts: Any,
) -> Simulation:
    """Requests that arrive at 0 with 100 tokens in and 50 out; leaps of one pass."""
    n, whole = len(last_token_s), np.zeros(len(start_s), dtype=np.int64)
    last = np.asarray(last_token_s, dtype=np.float64)
    counts = {field.name: np.zeros(n, dtype=np.int64) for field in fields(RequestRecords)}
    times = {name: np.where(np.isnan(last), np.nan, 0.0) for name in ("admitted_s", "max_gap_s")}
    records = RequestRecords(
        **{
            **counts,
            **times,
            "arrival_s": np.zeros(n),
            "first_token_s": np.where(np.isnan(last), np.nan, 0.5),
            "last_token_s": last,
            "input_tokens": np.full(n, 100),
            "output_tokens": np.full(n, 50),
            "chunks": np.full(n, 50),
            "status": np.where(np.isnan(last), Status.REJECTED, Status.FINISHED).astype(np.int64),
        }
    )
    nothing = np.zeros(len(start_s))
    columns = {field.name: nothing for field in fields(Leaps)}
    leaps = {"start_s": start_s, "first_s": duration_s, "prefill_s": prefill_s}
    floats = {name: np.asarray(column, dtype=np.float64) for name, column in leaps.items()}
    rows: dict[str, Any] = {**columns, **floats, "replica": whole, "passes": whole + 1}
    return Simulation(
        records=records,
        leaps=Leaps(**rows),
        **{
            "measured": n,
            "steady_state": False,
            "closed_loop": False,
            "gaps": WeightedSamples(nothing, nothing),
            "in_system": StepSeries(np.zeros(1), np.zeros(1, dtype=np.int64)),
            "replicas": 1,
            "kv_pool_tokens": 1,
            "kv_peak_share": 0.0,
            "events": 0,
            **facts,
        },
    )


def cost_of(simulation: Simulation, gpus: int = 2) -> Cost:
    metrics = measure(simulation, slo=Slo(), pipeline=Pipeline(), gpus=gpus, seed=0)
    return price(simulation, metrics, QUOTE, gpus)


def three_leaps() -> Simulation:
    """Window 0 to 10 s; busy 1 + 4 + 1 s (the last leap is cut in half), 1.5 s for input."""
    return run_of(
        [5.0, 10.0],
        start_s=[0.0, 1.0, 9.0],
        duration_s=[1.0, 4.0, 2.0],
        prefill_s=[1.0, 0.0, 1.0],
    )


def test_the_bill_per_hour_and_month() -> None:
    cost = cost_of(three_leaps())
    assert cost.usd_per_hour == pytest.approx(3.6)
    assert cost.usd_per_month == pytest.approx(3.6 * 730)


def test_paid_is_input_and_output_and_idle() -> None:
    cost = cost_of(three_leaps())
    assert cost.input_share == pytest.approx(0.15)
    assert cost.output_share == pytest.approx(0.45)
    assert cost.idle_share == pytest.approx(0.4)
    lines = {line.item: line for line in cost.lines}
    assert list(lines) == ["input", "output", "idle", "total"]
    parts = [lines[item] for item in ("input", "output", "idle")]
    assert sum(part.usd_per_month for part in parts) == pytest.approx(cost.usd_per_month)
    assert sum(part.share for part in parts) == pytest.approx(1)
    assert lines["idle"].usd_per_hour == pytest.approx(1.44)


def test_nothing_is_billed_to_output_where_prompts_yield_the_only_tokens() -> None:
    """All of each pass is input, up to the last bit: no share of -1e-17, no cost below zero."""
    times = [0.1 * n for n in range(1, 8)]
    passes = {"duration_s": [0.1] * 7, "prefill_s": [0.1 * (1 + 2**-52)] * 7}
    cost = cost_of(run_of(times, start_s=[0.1 * n for n in range(7)], **passes))
    assert cost.output_share == 0
    assert cost.usd_per_million_output_tokens == 0


def test_costs_per_token_and_per_request() -> None:
    # $3.6 an hour is $0.001 a second: $0.01 for the window, in which 200 tokens came in, 100 out.
    cost = cost_of(three_leaps())
    assert cost.usd_per_million_input_tokens == pytest.approx(0.0015 / 200 * 1e6)
    assert cost.usd_per_million_output_tokens == pytest.approx(0.0045 / 100 * 1e6)
    assert cost.usd_per_million_output_tokens_all_in == pytest.approx(0.01 / 100 * 1e6)
    assert cost.usd_per_request == pytest.approx(0.01 / 2)
    assert cost.interval_usd_per_request is None


def test_two_replicas_have_twice_the_time_to_be_idle_in() -> None:
    cost = cost_of(replace(three_leaps(), replicas=2))
    assert cost.idle_share == pytest.approx(0.7)
    assert cost.input_share == pytest.approx(0.075)


def test_a_strategy_without_prefill_has_no_input_price() -> None:
    cost = cost_of(run_of([10.0], start_s=[0.0], duration_s=[4.0], prefill_s=[0.0]))
    assert cost.input_share == 0
    assert cost.usd_per_million_input_tokens is None
    assert cost.usd_per_million_output_tokens == pytest.approx(0.004 / 50 * 1e6)


def test_where_nothing_finishes_the_hours_are_still_paid() -> None:
    nan = float("nan")
    cost = cost_of(run_of([nan, nan], start_s=[], duration_s=[], prefill_s=[]))
    assert cost.usd_per_hour == pytest.approx(3.6)
    assert cost.idle_share is None
    assert cost.usd_per_request is None
    assert cost.usd_per_million_output_tokens_all_in is None
    assert [line.item for line in cost.lines] == ["total"]


def test_the_interval_of_a_cost_is_that_of_the_rate_upside_down() -> None:
    finish = np.cumsum(np.random.default_rng(0).exponential(1, 500)).tolist()
    simulation = run_of(finish, start_s=[0.0], duration_s=[100.0], prefill_s=[10.0])
    metrics = measure(simulation, slo=Slo(), pipeline=Pipeline(), gpus=2, seed=0)
    cost = price(simulation, metrics, QUOTE, 2)
    slow, fast = metrics.throughput.interval_requests_per_s or (0, 0)
    assert cost.interval_usd_per_request == pytest.approx((0.001 / fast, 0.001 / slow))
    low, high = cost.interval_usd_per_million_output_tokens_all_in or (0, 0)
    assert low < (cost.usd_per_million_output_tokens_all_in or 0) < high
