"""The table of request classes: how each fares beside the others."""

from sim.metrics.result import ClassMetrics, SloResult
from sim.report.answer import target_label
from sim.report.table import Table, columns
from sim.report.words import count, maybe, number, percent, time_ms
from sim.run import Outcome


def class_table(outcome: Outcome) -> Table:
    """Return one row for each class; none where there is only one."""
    rows = tuple(_row(outcome, one) for one in outcome.metrics.classes)
    starving = [one.name for one in outcome.metrics.classes if one.starves]
    note = "offered: requests; good/s: goodput, requests/s inside every target of the class"
    if starving:
        note += f"; latencies withheld where a class starves: {', '.join(starving)}"
    heads = ("offered", "TTFT p50", "TTFT p99", "TTLT p90", "on target", "asked")
    return Table("Classes", columns("<", *heads, "good/s", "<"), rows, note)


def _row(outcome: Outcome, one: ClassMetrics) -> tuple[str, ...]:
    targets, latency = outcome.scenario.slo.of(one.name), one.latency
    asks = bool(targets.per_request_s())
    verdict = "starves" if one.starves else _verdict(one, asks=targets.ask_anything)
    return (
        one.name,
        count(one.requests.offered),
        maybe(latency["ttft"].p50, time_ms),
        maybe(latency["ttft"].p99, time_ms),
        maybe(latency["ttlt"].p90, time_ms),
        maybe(one.slo.attainment if asks else None, percent),
        maybe(targets.attainment if asks else None, percent),
        maybe(one.slo.goodput_requests_per_s, number),
        verdict,
    )


def _verdict(one: ClassMetrics, *, asks: bool) -> str:
    if not asks:
        return ""
    return _word(met=one.slo.met)


def _word(*, met: bool) -> str:
    return "met" if met else "missed"


def targets_by_class(result: SloResult) -> Table:
    """Return how many requests keep the targets of their own class."""
    rows = [
        (f"{target_label(name)} of a request", "by class", percent(share), "")
        for name, share in result.by_target.items()
    ]
    rows.append(
        ("all of them", "by class", maybe(result.attainment, percent), _word(met=result.met))
    )
    goodput = result.goodput_requests_per_s
    note = None if goodput is None else f"Goodput {number(goodput)} requests/s inside every target"
    return Table("Targets", columns("<", "target", "reached", "<"), tuple(rows), note)
