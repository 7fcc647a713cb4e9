"""The outcome as one JSON object: what `--json` prints and `outcome.json` holds.

Keys carry their units; times are in ms, intervals are `[low, high]`, what is withheld or does not
exist is null. Nothing in it depends on the clock: the same seed gives the same bytes.
"""

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from sim import __version__
from sim.economics.cost import Cost
from sim.metrics.intervals import Interval
from sim.metrics.result import ClassMetrics, RequestCounts, SloResult, Throughput
from sim.metrics.summary import Summary
from sim.provenance import weakest
from sim.quality import scores_of
from sim.report.answer import answer
from sim.report.course import part_of_course
from sim.report.quality import score_facts
from sim.report.seeds import warmup_of_all
from sim.run import Outcome, Replications
from sim.scenario import Scenario
from sim.units import MS_PER_S

LATENCIES = ("engine_ttft", "ttft", "tpot", "itl", "max_gap", "ttlt")


def to_json(document: Mapping[str, object]) -> str:
    """Return a document as text; NaN or infinity in it is our own mistake and raises."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain values."""
    metrics, serving, part = outcome.metrics, outcome.serving, part_of_course(outcome)
    return {
        "status": metrics.status,
        "too_short": metrics.too_short,
        "answer": answer(outcome),
        "part_of_course": None if part is None else part.facts(),
        "paretoken": __version__,
        "scenario": scenario_document(outcome.scenario),
        "requests": _requests(outcome),
        "sustainable_requests_per_s": metrics.sustainable_requests_per_s,
        "latency": {f"{name}_ms": _latency(metrics.latency[name]) for name in LATENCIES},
        "throughput": _throughput(metrics.throughput),
        "slo": _slo(metrics.slo),
        "classes": [_class(one) for one in metrics.classes],
        "utilisation": _utilisation(outcome),
        "cost": None if outcome.cost is None else _cost(outcome.cost),
        "memory": {
            "usable_bytes": serving.memory.usable_bytes,
            "weight_bytes": serving.memory.weight_bytes,
            "draft_weight_bytes": serving.memory.draft_weight_bytes,
            "reserve_bytes": serving.memory.reserve_bytes,
            "kv_bytes_per_token": serving.memory.kv_bytes_per_token,
            "kv_pool_tokens": serving.memory.pool_tokens,
            "kv_block_tokens": serving.memory.block_tokens,
        },
        "littles_law": {"lhs": metrics.littles_law.lhs, "rhs": metrics.littles_law.rhs},
        "waterfall": [
            {"stage": stage.stage, "mean_ms": stage.mean_s * MS_PER_S, "origin": stage.origin}
            for stage in metrics.waterfall
        ],
        "window_s": outcome.work.window_s or None,
        "events": outcome.work.events,
        "passes": outcome.work.passes,
        "provenance": {
            name: {"origin": part.origin, "source": part.source, "error": part.error}
            for name, part in outcome.provenance.items()
        },
        "quality": [score_facts(score) for score in scores_of(outcome.scenario, serving.model)],
        "times_origin": weakest(outcome.provenance),
        "replications": _replications(outcome.replications),
        "calibration": _calibration(outcome),
        "interval_basis": metrics.interval_basis,
        "notes": list(outcome.notes),
        "not_modelled": list(outcome.not_modelled),
    }


def scenario_document(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario with every default written out, as it would stand in a file."""
    return scenario.model_dump(mode="json", by_alias=True, exclude_none=True)


def _pair(interval: Interval | None, factor: float = 1.0) -> list[float] | None:
    return None if interval is None else [interval[0] * factor, interval[1] * factor]


def _requests(outcome: Outcome) -> dict[str, int]:
    counts = outcome.metrics.requests
    hidden = {"background": counts.background, "warm_up": warmup_of_all(outcome)}
    return {**_ended(counts), **hidden}


def _ended(counts: RequestCounts) -> dict[str, int]:
    return {
        "offered": counts.offered,
        "finished": counts.finished,
        "rejected": counts.rejected,
        "unfinished": counts.unfinished,
    }


def _latency(summary: Summary) -> dict[str, Any]:
    values = {name: getattr(summary, name) for name in ("mean", "p50", "p90", "p99")}
    return {
        **{key: None if value is None else value * MS_PER_S for key, value in values.items()},
        **{f"interval_{name}": _pair(summary.interval(name), MS_PER_S) for name in values},
        **_whole(summary.whole, values, MS_PER_S),
        "count": summary.count,
    }


def _whole(
    intervals: Mapping[str, Interval | None] | None, names: Iterable[str], factor: float = 1.0
) -> dict[str, list[float | None] | None]:
    """Return the intervals that hold the error of the calibration; null where it is not known."""
    known = intervals or {}
    return {
        f"interval_{name}_with_calibration": _open_pair(known.get(name), factor) for name in names
    }


def _open_pair(interval: Interval | None, factor: float = 1.0) -> list[float | None] | None:
    """Return both ends; null is an end that does not exist."""
    if interval is None:
        return None
    return [end * factor if isfinite(end) else None for end in interval]


def _replications(done: Replications | None) -> dict[str, Any] | None:
    if done is None:
        return None
    precision = done.precision
    return {
        "runs": done.runs,
        "complete": done.stopped_of is None,
        "first_seed": done.first_seed,
        "precision": None
        if precision is None
        else {
            "metric": precision.metric,
            "asked": precision.asked,
            "reached": precision.half_width,
            "met": precision.met,
        },
    }


def _calibration(outcome: Outcome) -> dict[str, Any] | None:
    error = outcome.log_error
    return None if error is None else {"log_sigma": error.sigma, "basis": error.basis}


def _throughput(rates: Throughput) -> dict[str, Any]:
    return {
        "offered_requests_per_s": rates.offered_requests_per_s,
        "requests_per_s": rates.requests_per_s,
        "input_tokens_per_s": rates.input_tokens_per_s,
        "output_tokens_per_s": rates.output_tokens_per_s,
        "output_tokens_per_s_per_gpu": rates.output_tokens_per_s_per_gpu,
        "user_tokens_per_s": rates.user_tokens_per_s,
        "interval_requests_per_s": _pair(rates.interval_requests_per_s),
        "interval_output_tokens_per_s": _pair(rates.interval_output_tokens_per_s),
        "interval_user_tokens_per_s": _pair(rates.interval_user_tokens_per_s),
        **_whole(rates.whole, ("requests_per_s", "output_tokens_per_s", "user_tokens_per_s")),
    }


def _class(one: ClassMetrics) -> dict[str, Any]:
    return {
        "name": one.name,
        "status": one.status,
        "requests": _ended(one.requests),
        "latency": {f"{name}_ms": _latency(summary) for name, summary in one.latency.items()},
        "slo": _slo(one.slo),
    }


def _slo(slo: SloResult) -> dict[str, Any]:
    return {
        "met": slo.met,
        "attainment": slo.attainment,
        "interval_attainment": _pair(slo.interval_attainment),
        "interval_attainment_with_calibration": _pair(slo.whole_attainment),
        "goodput_requests_per_s": slo.goodput_requests_per_s,
        "by_target": dict(slo.by_target),
        "on_percentiles": dict(slo.on_percentiles),
    }


def _utilisation(outcome: Outcome) -> dict[str, Any]:
    usage = outcome.usage
    return {
        "busy": outcome.metrics.utilisation.busy,
        "mbu": None if usage is None else usage.mbu,
        "mfu": None if usage is None else usage.mfu,
        "kv_peak": outcome.metrics.utilisation.kv_peak,
        "cached_input": outcome.metrics.utilisation.cached_input,
        "bound": None if usage is None else usage.bound,
        "share_by_bound": {} if usage is None else dict(sorted(usage.share_by_bound.items())),
        "ridge_tokens_per_pass": outcome.ridge_tokens_per_pass,
    }


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "usd_per_gpu_hour": cost.quote.usd_per_gpu_hour,
        "gpus": cost.gpus,
        "usd_per_hour": cost.usd_per_hour,
        "usd_per_month": cost.usd_per_month,
        "usd_per_million_input_tokens": cost.usd_per_million_input_tokens,
        "usd_per_million_output_tokens": cost.usd_per_million_output_tokens,
        "usd_per_million_output_tokens_all_in": cost.usd_per_million_output_tokens_all_in,
        "usd_per_request": cost.usd_per_request,
        "input_share": cost.input_share,
        "output_share": cost.output_share,
        "idle_share": cost.idle_share,
        "interval_usd_per_million_output_tokens_all_in": _pair(
            cost.interval_usd_per_million_output_tokens_all_in
        ),
        "interval_usd_per_request": _pair(cost.interval_usd_per_request),
        **_whole(cost.whole, ("usd_per_million_output_tokens_all_in", "usd_per_request")),
        "price_source": cost.quote.source,
        "price_as_of": cost.quote.as_of,
    }
