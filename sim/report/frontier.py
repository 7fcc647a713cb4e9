"""A frontier in words: who gives the most at which user speed, and by how much."""

from collections.abc import Mapping
from typing import Any

from sim.planning import Frontier, Rung
from sim.report.document import scenario_document
from sim.report.figures import frontier_finding
from sim.report.table import Table, columns
from sim.report.words import NOTHING, count, maybe, number, ratio, significant

PER_GPU = "Output tokens/s per GPU"
PER_USD = "Output tokens per dollar"


def frontier_answer(found: Frontier) -> str:
    """Return which strategy gives the most per GPU, by user speed, in one sentence."""
    return f"{found.scenario.name}: {frontier_finding(found)}."


def frontier_tables(found: Frontier) -> tuple[Table, ...]:
    """Return what each strategy gives at each user speed: per GPU, and per dollar with a price."""
    rungs = found.ladder()
    if not rungs:
        return (_misses(found),)
    heads = ("tokens/s per user", *(item.label for item in found.entries))
    per_gpu = tuple(_row(found, rung) for rung in rungs)
    baseline = found.label(found.baseline).lower()
    best = f"*: the most, or less than {found.tie:.0%} behind it"
    note = f"{best}; ×: compared with {baseline}; {NOTHING}: not that fast inside the targets"
    tables = [Table(PER_GPU, columns(*heads), per_gpu, note)]
    if any(value for rung in rungs for value in rung.output_tokens_per_usd.values()):
        per_usd = tuple(
            (_speed(rung), *(_whole(rung.output_tokens_per_usd, found))) for rung in rungs
        )
        tables.append(Table(PER_USD, columns(*heads), per_usd))
    return tuple(tables)


def _misses(found: Frontier) -> Table:
    """Return why nothing counts: what each strategy misses at its lightest load."""
    lightest = {point.strategy: point for point in reversed(found.points)}
    rows = tuple(
        (found.label(name), maybe(lightest[name].users, count), lightest[name].note)
        for name in (item.strategy for item in found.entries)
        if name in lightest
    )
    return Table("At the lightest load", columns("<strategy", "users", "<it"), rows)


def _row(found: Frontier, rung: Rung) -> tuple[str, ...]:
    return (_speed(rung), *(_cell(found, rung, item.strategy) for item in found.entries))


def _speed(rung: Rung) -> str:
    return significant(rung.user_tokens_per_s)


def _cell(found: Frontier, rung: Rung, strategy: str) -> str:
    value, over = rung.output_tokens_per_s_per_gpu[strategy], rung.ratio[strategy]
    if value is None:
        return NOTHING
    text = f"* {number(value)}" if strategy in {rung.winner, *rung.tied} else number(value)
    if len({point.tensor_parallel for point in found.points}) > 1:
        text += f" TP{rung.tensor_parallel[strategy]}"
    if over is not None and strategy != found.baseline:
        text += f" {ratio(over, 2)}"
    return text


def _whole(values: Mapping[str, float | None], found: Frontier) -> list[str]:
    return [maybe(values[item.strategy], count) for item in found.entries]


def frontier_document(found: Frontier) -> dict[str, Any]:
    """Return the frontier as plain values: the JSON object."""
    return {
        "answer": frontier_answer(found),
        "complete": found.complete,
        "scenario": scenario_document(found.scenario),
        "baseline": found.baseline,
        "tie": found.tie,
        "strategies": [
            {
                "strategy": item.strategy,
                "label": item.label,
                "lossless": item.lossless,
                "what_if": item.what_if,
            }
            for item in found.entries
        ],
        "ladder": [
            {
                "user_tokens_per_s": rung.user_tokens_per_s,
                "output_tokens_per_s_per_gpu": dict(rung.output_tokens_per_s_per_gpu),
                "output_tokens_per_usd": dict(rung.output_tokens_per_usd),
                "tensor_parallel": dict(rung.tensor_parallel),
                "ratio": dict(rung.ratio),
                "winner": rung.winner,
                "tied": list(rung.tied),
            }
            for rung in found.ladder()
        ],
        "points": found.rows(),
        "provenance": {
            strategy: {
                name: {"origin": part.origin, "source": part.source, "error": part.error}
                for name, part in parts.items()
            }
            for strategy, parts in found.provenance.items()
        },
        "assumptions": list(found.assumptions),
    }
