"""Acceptance drift as a sentence, a table and plain values."""

from typing import Any

from sim.planning.drift import Drift, DriftPoint
from sim.report.table import Table, columns
from sim.report.words import percent


def drift_answer(found: Drift) -> str:
    """Return what the drift does to the gain, in one sentence."""
    first, last = found.points[0], found.points[-1]
    gain = f"{found.strategy.label}: {first.speed_up:.2f} times as fast for users"
    if found.break_even is None:
        what = "faster" if first.speed_up > 1.0 else "slower"
        return f"{gain} before the drift and {last.speed_up:.2f} at its end: {what} throughout"
    even = found.break_even
    where = f"acceptance times {even.at:.2f}" if found.moves is None else percent(even.at)
    where = where if found.moves is None else f"{where} of the way to the other mix"
    return (
        f"{gain} before the drift; it breaks even at {where}, where"
        f" {percent(even.first_acceptance)} of first drafts are accepted and a pass yields"
        f" {even.tokens_per_pass:.2f} tokens"
    )


def drift_table(found: Drift) -> Table:
    """Return speed-up against drift."""
    scaled = found.moves is None
    rows = tuple(_row(point, scaled=scaled) for point in found.points)
    head = "acceptance times" if scaled else "mix moved by"
    heads = columns(f"<{head}", "first drafts accepted", "tokens per pass", "speed-up")
    note = "Speed-up: output tokens per second that users wait, over that of one token a pass"
    return Table("Acceptance drift", heads, rows, note)


def _row(point: DriftPoint, *, scaled: bool) -> tuple[str, ...]:
    return (
        f"{point.at:.2f}" if scaled else percent(point.at),
        percent(point.first_acceptance),
        f"{point.tokens_per_pass:.2f}",
        f"{point.speed_up:.2f}",
    )


def drift_document(found: Drift) -> dict[str, Any]:
    """Return the drift as plain values."""
    even = found.break_even
    return {
        "scenario": found.scenario.name,
        "strategy": found.strategy.label,
        "acceptance": found.strategy.basis,
        "kind": "acceptance_scale" if found.moves is None else "mix",
        "moves_to": None if found.moves is None else dict(found.moves),
        "points": [
            {
                "at": point.at,
                "first_acceptance": point.first_acceptance,
                "tokens_per_pass": point.tokens_per_pass,
                "speed_up": point.speed_up,
            }
            for point in found.points
        ],
        "break_even": None
        if even is None
        else {
            "at": even.at,
            "first_acceptance": even.first_acceptance,
            "tokens_per_pass": even.tokens_per_pass,
        },
    }
