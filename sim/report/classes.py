"""The table of request classes: how each fares beside the others."""

from sim.metrics.result import ClassMetrics
from sim.report.table import Table, columns
from sim.report.words import count, maybe, number, percent, time_ms, token_ms
from sim.run import Outcome


def class_table(outcome: Outcome) -> Table:
    """Return one row for each class; none where there is only one."""
    rows = tuple(_row(outcome, one) for one in outcome.metrics.classes)
    starving = [one.name for one in outcome.metrics.classes if one.starves]
    note = f"Withheld where a class starves: {', '.join(starving)}" if starving else None
    heads = ("requests", "TTFT p50", "TTFT p99", "TPOT p50", "TTLT p99", "on target", "asked")
    return Table("Classes", columns("<", *heads, "goodput/s", "<"), rows, note)


def _row(outcome: Outcome, one: ClassMetrics) -> tuple[str, ...]:
    targets, latency = outcome.scenario.slo.of(one.name), one.latency
    asks = bool(targets.per_request_s())
    verdict = "starves" if one.starves else _verdict(one, asks=targets.ask_anything)
    return (
        one.name,
        count(one.requests.offered),
        maybe(latency["ttft"].p50, time_ms),
        maybe(latency["ttft"].p99, time_ms),
        maybe(latency["tpot"].p50, token_ms),
        maybe(latency["ttlt"].p99, time_ms),
        maybe(one.slo.attainment if asks else None, percent),
        maybe(targets.attainment if asks else None, percent),
        maybe(one.slo.goodput_requests_per_s, number),
        verdict,
    )


def _verdict(one: ClassMetrics, *, asks: bool) -> str:
    if not asks:
        return ""
    return "met" if one.slo.met else "missed"
