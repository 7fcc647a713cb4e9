"""A comparison of strategies in words and tables: who wins where, by how much, and why."""

from collections.abc import Sequence
from typing import Any, Final

from sim.metrics.paired import Difference, Statistic
from sim.metrics.percentiles import needed
from sim.planning.comparison import Arm, Comparison, Winner
from sim.report.answer import bound_label
from sim.report.bill import NO_PRICE
from sim.report.document import scenario_document
from sim.report.table import Table, columns
from sim.report.words import (
    MINUS,
    NOTHING,
    count,
    maybe,
    number,
    significant,
    span,
    time_ms,
    usd,
)
from sim.units import counted

_NAMES: Final = {"ttft": "TTFT", "ttlt": "TTLT", "user_tokens_per_s": "user speed (tokens/s)"}


def comparison_answer(found: Comparison) -> str:
    """Return who is best for a user, and who is cheapest, in one sentence."""
    running = [arm for arm in found.arms if arm.compared]
    if not running:
        return f"{found.scenario.name}: none of the strategies serves this load."
    if len(running) == 1:
        return f"{found.scenario.name}: only {_label(running[0])} serves this load."
    parts = []
    for quantity, statistic, what in (
        ("ttlt", "p50", "the median answer is complete first with"),
        ("ttlt", "p99", "the slowest percent with"),
        ("ttft", "p50", "the first words come first with"),
    ):
        winner = next(
            (w for w in found.winners if (w.quantity, w.statistic) == (quantity, statistic)), None
        )
        if winner is not None:
            parts.append(f"{what} {_winner(found, winner)}")
    return f"{found.scenario.name}: {'; '.join(parts) or _too_few(running)}."


def _too_few(running: Sequence[Arm]) -> str:
    """Say that nobody wins, since not even a median can be told."""
    done = min(arm.outcome.metrics.requests.finished for arm in running if arm.outcome)
    were = counted(done, "request was", "requests were")
    return (
        f"too few requests to tell who is first: {were} counted, a median takes"
        f" {needed(0.5)}; take more of them"
    )


def _winner(found: Comparison, winner: Winner) -> str:
    best = _label(found.arm(winner.best))
    tied = ", ".join(_label(found.arm(name)) for name in winner.tied)
    return f"{best} (a tie with {tied})" if tied else best


def comparison_tables(found: Comparison) -> tuple[Table, ...]:
    """Return what each strategy gives, the differences to the first, who wins, and why."""
    tables = [_given(found)]
    if any(arm.against for arm in found.arms):
        tables.append(_differences(found))
    if found.winners:
        tables.append(_winners(found))
    tables.append(_reasons(found))
    return tuple(tables)


def _label(arm: Arm) -> str:
    return f"{arm.entry.label} (what-if)" if arm.entry.what_if else arm.entry.label


def _given(found: Comparison) -> Table:
    heads = ("<strategy", "TTFT p50", "TTFT p99", "TTLT p50", "TTLT p99", "tokens/s per user",
             "inside targets", "USD per 1M out", "<status")  # fmt: skip
    rows = tuple(_row(arm) for arm in found.arms)
    note = None if found.scenario.prices else NO_PRICE
    return Table("What each strategy gives", columns(*heads), rows, note)


def _row(arm: Arm) -> tuple[str, ...]:
    outcome = arm.outcome
    if outcome is None:
        return (_label(arm), *[NOTHING] * 7, f"refused: {arm.refusal}")
    metrics, cost = outcome.metrics, outcome.cost
    ttft, ttlt = metrics.latency["ttft"], metrics.latency["ttlt"]
    price = None if cost is None else cost.usd_per_million_output_tokens_all_in
    inside = metrics.slo.attainment if outcome.scenario.slo.per_request_s() else None
    return (
        _label(arm),
        *(maybe(value, time_ms) for value in (ttft.p50, ttft.p99, ttlt.p50, ttlt.p99)),
        maybe(metrics.throughput.user_tokens_per_s, significant),
        maybe(inside, lambda share: f"{share:.1%}"),
        maybe(price, usd),
        metrics.status,
    )


def _differences(found: Comparison) -> Table:
    base = found.baseline
    wanted: tuple[tuple[str, Statistic], ...] = (
        ("ttft", "p50"), ("ttft", "p99"), ("ttlt", "p50"), ("ttlt", "p99"),
        ("user_tokens_per_s", "p50"),
    )  # fmt: skip
    rows = list[tuple[str, ...]]()
    for arm in found.arms:
        if arm.against is None:
            continue
        label = _label(arm)
        for quantity, statistic in wanted:
            cells = _difference(arm.against[quantity].get(statistic), quantity)
            rows.append((label, f"{_NAMES[quantity]} {statistic}", *cells))
            label = ""
    heads = columns("<strategy", "<at", "difference", "90% interval")
    note = "The same requests in both runs; what is shorter or slower begins with a minus"
    return Table(f"Difference from {base.entry.label}", heads, tuple(rows), note)


def _difference(apart: Difference | None, quantity: str) -> tuple[str, str]:
    """Return a difference and its interval."""
    if apart is None:
        return NOTHING, NOTHING

    def form(value: float) -> str:
        size = abs(value)
        words = significant(size) if quantity == "user_tokens_per_s" else time_ms(size)
        return words if not size else f"{'+' if value > 0 else MINUS}{words}"

    return form(apart.value), NOTHING if apart.interval is None else span(apart.interval, form)


def _winners(found: Comparison) -> Table:
    rows = tuple(
        (
            f"{_NAMES[winner.quantity]} {winner.statistic}",
            _label(found.arm(winner.best)),
            ", ".join(_label(found.arm(name)) for name in winner.tied) or NOTHING,
        )
        for winner in found.winners
    )
    return Table("Who wins where", columns("<at", "<best", "<cannot be told from it"), rows)


def _reasons(found: Comparison) -> Table:
    heads = ("<strategy", "passes per request", "tokens per pass", "positions", "sequences",
             "<bound by", "ridge", "<quality")  # fmt: skip
    rows = tuple(_reason(arm) for arm in found.arms if arm.outcome is not None)
    note = (
        "Passes that a request takes part in, prefill included; positions and sequences of a "
        "pass, of all together; ridge: positions from which it is compute-bound"
    )
    return Table("Why", columns(*heads), rows, note)


def _reason(arm: Arm) -> tuple[str, ...]:
    outcome, work = arm.outcome, arm.work
    if outcome is None or work is None:
        return (_label(arm), *[NOTHING] * 4, NOTHING, NOTHING, NOTHING)
    usage, ridge = outcome.usage, outcome.ridge_tokens_per_pass
    return (
        _label(arm),
        number(work.passes_per_request),
        number(work.tokens_per_pass),
        number(work.positions_per_pass),
        number(work.sequences_per_pass),
        NOTHING if usage is None else bound_label(usage.bound),
        maybe(ridge, count),
        arm.quality,
    )


def comparison_document(found: Comparison) -> dict[str, Any]:
    """Return the comparison as plain values: the JSON object."""
    return {
        "answer": comparison_answer(found),
        "scenario": scenario_document(found.scenario),
        "complete": found.complete,
        "baseline": found.baseline.entry.strategy,
        "strategies": [_arm_document(arm) for arm in found.arms],
        "winners": [
            {
                "quantity": winner.quantity,
                "statistic": winner.statistic,
                "best": winner.best,
                "tied": list(winner.tied),
            }
            for winner in found.winners
        ],
    }


def _arm_document(arm: Arm) -> dict[str, Any]:
    entry, outcome, work = arm.entry, arm.outcome, arm.work
    document: dict[str, Any] = {
        "strategy": entry.strategy,
        "label": entry.label,
        "lossless": entry.lossless,
        "what_if": entry.what_if,
        "refused": arm.refusal,
        "quality": arm.quality,
    }
    if outcome is None:
        return document
    metrics, cost, usage = outcome.metrics, outcome.cost, outcome.usage
    return document | {
        "status": metrics.status,
        "latency_s": {
            name: {"mean": of.mean, "p50": of.p50, "p90": of.p90, "p99": of.p99}
            for name, of in metrics.latency.items()
        },
        "user_tokens_per_s": metrics.throughput.user_tokens_per_s,
        "output_tokens_per_s": metrics.throughput.output_tokens_per_s,
        "attainment": metrics.slo.attainment,
        "usd_per_million_output_tokens_all_in": (
            None if cost is None else cost.usd_per_million_output_tokens_all_in
        ),
        "passes_per_request": None if work is None else work.passes_per_request,
        "tokens_per_pass": None if work is None else work.tokens_per_pass,
        "positions_per_pass": None if work is None else work.positions_per_pass,
        "sequences_per_pass": None if work is None else work.sequences_per_pass,
        "bound": None if usage is None else usage.bound,
        "ridge_tokens_per_pass": outcome.ridge_tokens_per_pass,
        "differences": {
            quantity: {
                statistic: {
                    "value": apart.value,
                    "interval": None if apart.interval is None else list(apart.interval),
                }
                for statistic, apart in by_statistic.items()
            }
            for quantity, by_statistic in (arm.against or {}).items()
        },
    }
