"""The cold path in words, tables and JSON."""

from typing import Any

from sim.cold_start import Phase
from sim.planning.cold import ColdReport
from sim.report.document import scenario_document
from sim.report.table import Table, columns
from sim.report.words import gigabytes, maybe, percent, span, time_ms
from sim.units import MS_PER_S, counted


def cold_answer(report: ColdReport) -> str:
    """Return in one sentence what starting from nothing costs the first user."""
    ready, longest = report.ready, max(report.phases, key=lambda phase: phase.seconds)
    warm = report.warm_ttft.mean
    against = "" if warm is None else f", against {time_ms(warm)} on average when it is warm"
    return (
        f"{report.scenario.name} is ready {time_ms(ready.seconds)} after it is asked for"
        f" [{span((ready.low_s, ready.high_s), time_ms)}], {time_ms(longest.seconds)} of it for"
        f" {longest.name}; who asks first waits {time_ms(report.first_ttft_s)} for a token"
        f"{against}."
    )


def phase_table(report: ColdReport) -> Table:
    """Return the phases, one after the other."""
    ready = report.ready
    rows = [_row(phase, ready.seconds) for phase in report.phases]
    bounds = span((ready.low_s, ready.high_s), time_ms)
    rows.append(("ready", time_ms(ready.seconds), "100%", bounds, ""))
    return Table(
        "From nothing to ready",
        columns("<phase", "time", "share", "from – to", "<source"),
        tuple(rows),
        f"{gigabytes(report.weight_bytes)} of weights a replica, read by {report.settings.loader};"
        " all figures are assumptions: edit them under `cold_start`",
    )


def _row(phase: Phase, whole_s: float) -> tuple[str, ...]:
    share = phase.seconds / whole_s if whole_s else 0.0
    bounds = span((phase.low_s, phase.high_s), time_ms)
    return (phase.name, time_ms(phase.seconds), percent(share), bounds, phase.source)


def user_table(report: ColdReport) -> Table:
    """Return what users see cold, and warm."""
    warm, backlog = report.warm_ttft, report.backlog
    rows = [
        ("warm, mean", maybe(warm.mean, time_ms), "the run of the scenario"),
        ("warm, p99", maybe(warm.p99, time_ms), "the same"),
        ("ready, alone, empty cache", time_ms(report.lone_ttft_s), "the mean prompt"),
        ("who asks first", time_ms(report.first_ttft_s), "ready, and then the line above"),
    ]
    note = f"{percent(report.cached_share)} of the prompt tokens come from a warm prefix cache"
    if backlog is not None:
        came = f"of {counted(backlog.waiting, 'request')} before it is ready"
        rows += [
            ("during the start, mean", maybe(backlog.ttft.mean, time_ms), came),
            ("during the start, p99", maybe(backlog.ttft.p99, time_ms), "the same"),
            ("until nobody waits", maybe(backlog.settled_s, time_ms), "from ready on"),
        ]
    return Table("Time to the first token", columns("<", "TTFT", "<of what"), tuple(rows), note)


def cold_document(report: ColdReport) -> dict[str, Any]:
    """Return the cold path as plain values; s, and latencies in ms."""
    backlog = report.backlog
    return {
        "answer": cold_answer(report),
        "scenario": scenario_document(report.scenario),
        "loader": report.settings.loader,
        "weight_bytes": report.weight_bytes,
        "phases": [_phase(phase) for phase in report.phases],
        "ready_s": report.ready.seconds,
        "range_ready_s": [report.ready.low_s, report.ready.high_s],
        "ttft_ms": {
            "warm_mean": _ms(report.warm_ttft.mean),
            "warm_p99": _ms(report.warm_ttft.p99),
            "ready_alone": _ms(report.lone_ttft_s),
            "first": _ms(report.first_ttft_s),
        },
        "cached_share": report.cached_share,
        "backlog": None
        if backlog is None
        else {
            "waiting": backlog.waiting,
            "ttft_mean_ms": _ms(backlog.ttft.mean),
            "ttft_p99_ms": _ms(backlog.ttft.p99),
            "settled_s": backlog.settled_s,
        },
    }


def _phase(phase: Phase) -> dict[str, Any]:
    return {
        "phase": phase.name,
        "seconds": phase.seconds,
        "range_s": [phase.low_s, phase.high_s],
        "origin": "assumed",
        "source": phase.source,
        "as_of": phase.as_of,
    }


def _ms(value_s: float | None) -> float | None:
    return None if value_s is None else value_s * MS_PER_S
