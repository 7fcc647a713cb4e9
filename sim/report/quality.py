"""Quality of answers in tables: what is published, with its source."""

from collections.abc import Iterable
from typing import Any

from sim.quality import UNKNOWN, Score
from sim.report.sources import source_numbers, source_of
from sim.report.table import Table, columns
from sim.report.words import NOTHING


def quality_table(scores: Iterable[Score]) -> Table:
    """Return the published scores of a run; one row that says so where there are none."""
    rows = tuple(
        (score.row.benchmark, f"{score.row.score:g}", _plain(score), _how(score), score.source)
        for score in scores
    )
    heads = columns("<benchmark", "score", "plain", "<how", "<source")
    if not rows:
        rows = ((UNKNOWN, NOTHING, NOTHING, "nothing published for this setting", NOTHING),)
    note = "Looked up, not modelled; plain: the same model in 16 bits, one token a pass"
    return Table("Quality of the answers", heads, rows, note)


def scores_table(facts: list[dict[str, Any]]) -> Table:
    """Return the catalog's scores; their sources are a table of their own.

    How a row came about is one column: strategy, settings, method of quantisation, checkpoint.
    """
    numbers = source_numbers(facts)
    rows = tuple(
        (
            fact["model"],
            fact["weights"],
            _came_about(fact),
            fact["benchmark"],
            f"{fact['score']:g}",
            str(numbers[source_of(fact)]),
        )
        for fact in facts
    )
    heads = columns("<model", "<weights", "<decoded and stored", "<benchmark", "score", "source")
    return Table("Published quality", heads, rows, "Percent, or points out of 100")


def _came_about(fact: dict[str, Any]) -> str:
    """Return what tells a row from others of the same model, weights and benchmark."""
    parts = (fact["strategy"].replace("_", " "), _settings(fact["settings"]), fact["method"])
    cache = f"KV in {fact['kv_precision']}" if fact["kv_precision"] else None
    told = [part for part in (*parts, cache, fact["checkpoint"]) if part and part != NOTHING]
    return ", ".join(told)


def score_facts(score: Score) -> dict[str, Any]:
    """Return a score as plain values."""
    row = score.row
    return {
        "model": row.model,
        "checkpoint": row.checkpoint,
        "weights": row.weights,
        "kv_precision": row.kv_precision,
        "method": row.method,
        "strategy": row.strategy,
        "settings": dict(row.settings),
        "benchmark": row.benchmark,
        "score": row.score,
        "plain_score": score.plain,
        "source": score.source,
    }


def _plain(score: Score) -> str:
    return NOTHING if score.plain is None else f"{score.plain:g}"


def _how(score: Score) -> str:
    row = score.row
    parts = [row.checkpoint, row.weights, row.method, _settings(row.settings)]
    return ", ".join(part for part in parts if part and part != NOTHING)


def _settings(settings: dict[str, Any]) -> str:
    words = (
        f"{key.replace('_', ' ')} {value:g}"
        if isinstance(value, int | float)
        else f"{key} {value}"
        for key, value in settings.items()
    )
    return ", ".join(words) or NOTHING
