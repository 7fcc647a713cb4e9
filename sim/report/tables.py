"""The tables behind an answer: latency, throughput, targets, time, use of the GPUs."""

from typing import Final

from sim.metrics.summary import Summary
from sim.provenance import Part
from sim.quality import scores_of
from sim.report.answer import bound_label, target_label
from sim.report.bill import cost_table, price_table
from sim.report.classes import class_table, targets_by_class
from sim.report.quality import quality_table
from sim.report.seeds import warmup_of_all
from sim.report.table import Table, columns
from sim.report.words import (
    NOTHING,
    Formatter,
    count,
    gigabytes,
    maybe,
    maybe_span,
    number,
    percent,
    time_ms,
    token_ms,
)
from sim.run import Outcome
from sim.units import counted

_LATENCY: Final = {
    "ttft": "TTFT (first token)",
    "engine_ttft": "TTFT in the engine",
    "tpot": "TPOT (per token)",
    "itl": "ITL (gap of chunks)",
    "max_gap": "longest gap",
    "ttlt": "TTLT (last token)",
}

_SAID_BY: Final = {
    "model": "published",
    "peaks": "published",
    "price": "published",
    "memory": "given",
    "decoding": "by definition",
}


def outcome_tables(outcome: Outcome) -> tuple[Table, ...]:
    """Return every table that has something to say, in the order in which they are read."""
    tables = (
        latency_table(outcome),
        throughput_table(outcome),
        target_table(outcome),
        class_table(outcome),
        waterfall_table(outcome),
        utilisation_table(outcome),
        cost_table(outcome),
        price_table(outcome),
        quality_table(scores_of(outcome.scenario, outcome.serving.model)),
        provenance_table(outcome),
    )
    return tuple(table for table in tables if table is not None and table.rows)


def latency_table(outcome: Outcome) -> Table:
    """Return the latencies with the interval of their p99."""
    metrics = outcome.metrics
    return Table(
        "Latency",
        columns("<", "mean", "p50", "p90", "p99", "p99, 90% interval"),
        tuple(
            _latency_row(
                _LATENCY[name],
                metrics.latency[name],
                token_ms if name in {"tpot", "itl"} else time_ms,
            )
            for name in _LATENCY
        ),
        "Withheld: in an overloaded run latencies depend on the length of the run"
        if metrics.status == "overloaded"
        else None,
    )


def _latency_row(name: str, summary: Summary, form: Formatter) -> tuple[str, ...]:
    values = (summary.mean, summary.p50, summary.p90, summary.p99)
    interval = maybe_span(summary.widest("p99"), form)
    return (name, *(maybe(value, form) for value in values), interval)


def throughput_table(outcome: Outcome) -> Table:
    """Return what finishes per second."""
    rates = outcome.metrics.throughput
    # The users of a closed loop ask as fast as they are answered: no rate is offered.
    offered = ("requests/s offered", rates.offered_requests_per_s, None)
    rows = (
        *(() if outcome.simulation.closed_loop else (offered,)),
        ("requests/s finished", rates.requests_per_s, rates.interval_requests_per_s),
        ("input tokens/s", rates.input_tokens_per_s, None),
        ("output tokens/s", rates.output_tokens_per_s, rates.interval_output_tokens_per_s),
        ("output tokens/s per GPU", rates.output_tokens_per_s_per_gpu, None),
        ("tokens/s seen by a user", rates.user_tokens_per_s, rates.interval_user_tokens_per_s),
    )
    return Table(
        "Throughput",
        columns("<", "value", "90% interval"),
        tuple(
            (name, maybe(x, number), maybe_span(interval, number)) for name, x, interval in rows
        ),
        _ended(outcome),
    )


def _ended(outcome: Outcome) -> str:
    """Say how the counted requests ended, and how many of those asked for were not counted."""
    counts, left_out = outcome.metrics.requests, warmup_of_all(outcome)
    ended = f"{counted(counts.offered, 'request')} offered: {count(counts.finished)} finished"
    ended += f", {count(counts.rejected)} rejected, {count(counts.unfinished)} unfinished"
    if not left_out:
        return ended
    return f"{ended}; {count(left_out)} before them not counted: the load had not settled yet"


def target_table(outcome: Outcome) -> Table:
    """Return each target and how far it is met; no row where nothing is asked."""
    slo, result = outcome.scenario.slo, outcome.metrics.slo
    if slo.classes:
        return targets_by_class(result)
    rows = [
        (
            f"{target_label(name)} of a request",
            f"≤ {time_ms(limit)}",
            _share(result.by_target.get(name)),
            "",
        )
        for name, limit in slo.per_request_s().items()
    ]
    if rows:
        enough = result.attainment is not None and result.attainment >= slo.attainment
        asked = f"≥ {percent(slo.attainment)}"
        rows.append(("all of them", asked, _share(result.attainment), _verdict(enough)))
    for name, limit in slo.on_percentiles_s().items():
        quantity, _, percentile = name.rpartition("_")
        value = getattr(outcome.metrics.latency[quantity], percentile)
        met = result.on_percentiles[name]
        rows.append(
            (target_label(name), f"≤ {time_ms(limit)}", maybe(value, time_ms), _verdict(met))
        )
    goodput = result.goodput_requests_per_s
    note = None if goodput is None else f"Goodput {number(goodput)} requests/s inside every target"
    return Table("Targets", columns("<", "target", "reached", "<"), tuple(rows), note)


def _share(share: float | None) -> str:
    return maybe(share, percent)


def _verdict(met: bool | None) -> str:  # noqa: FBT001
    return "too few to say" if met is None else "met" if met else "missed"


def waterfall_table(outcome: Outcome) -> Table:
    """Return the stages on the way to the first token; they add up to the mean TTFT."""
    stages = outcome.metrics.waterfall
    total_s = sum(stage.mean_s for stage in stages)
    rows: list[tuple[str, ...]] = [
        (stage.stage, time_ms(stage.mean_s), percent(stage.mean_s / total_s), stage.origin)
        for stage in stages
        if stage.mean_s
    ]
    if rows:
        rows.append(("mean TTFT", time_ms(total_s), "100%", ""))
    return Table(
        "Where the time to the first token goes",
        columns("<", "mean", "share", "<origin"),
        tuple(rows),
    )


def utilisation_table(outcome: Outcome) -> Table:
    """Return how hard the GPUs work, what bounds them, and what fits into their memory."""
    metrics, usage, memory = outcome.metrics, outcome.usage, outcome.serving.memory
    busy = metrics.utilisation.busy
    rows = [("busy", maybe(busy, percent), "of the time a pass is running")]
    if usage is not None:
        rows += [
            ("MBU", percent(usage.mbu), "of the peak memory bandwidth, while busy"),
            ("MFU", percent(usage.mfu), "of the peak arithmetic, while busy"),
        ]
        shares = sorted(usage.share_by_bound.items(), key=lambda item: -item[1])
        rows += [(f"bound: {name}", percent(share), bound_label(name)) for name, share in shares]
    ridge = outcome.ridge_tokens_per_pass
    work = outcome.work
    if work.passes:
        mean = work.positions / work.passes
        rows.append(("tokens per pass", number(mean), "mean; prompts and answers together"))
    if ridge is None:
        rows.append(("ridge", NOTHING, "memory-bound at any batch, at the traffic's mean context"))
    else:
        at = "per pass, and it turns compute-bound (at the traffic's mean context)"
        rows.append(("ridge", counted(ridge, "token"), at))
    pool = f"of {count(memory.pool_tokens)} tokens per replica"
    rows.append(("KV pool at its peak", percent(metrics.utilisation.kv_peak), pool))
    cached = metrics.utilisation.cached_input
    if cached is not None:
        rows.append(("found in the prefix cache", percent(cached), "of the input tokens"))
    weights = gigabytes(memory.weight_bytes)
    rows.append(("weights per GPU", weights, f"of {gigabytes(memory.usable_bytes)} usable"))
    return Table("Use of the GPUs", columns("<", "value", "<of what"), tuple(rows))


def origin_label(name: str, part: Part) -> str:
    """Return the origin of a part in the words that fit it.

    JSON knows three origins; in them what is not a guess of ours is `measured`, also where a
    vendor, a price list or a definition says so and nobody held a meter to it.
    """
    return _SAID_BY.get(name, part.origin) if part.origin == "measured" else part.origin


def _error(part: Part) -> str:
    return f"; error {part.error}" if part.error else ""


def provenance_table(outcome: Outcome) -> Table:
    """Return where the numbers come from."""
    rows = tuple(
        (name, origin_label(name, part), part.source + _error(part))
        for name, part in outcome.provenance.items()
    )
    basis = f"Intervals: {outcome.metrics.interval_basis}"
    return Table("Origin of the numbers", columns("<part", "<origin", "<source"), rows, basis)
