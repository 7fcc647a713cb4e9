"""Published acceptance of drafts, and tokens per denoise pass: facts and tables."""

from collections.abc import Iterable
from typing import Any

from sim.decoding.denoise_tables import DenoiseRow
from sim.decoding.published import AcceptanceTable, Row
from sim.report.sources import source_numbers, source_of
from sim.report.table import Table, columns
from sim.report.words import NOTHING, maybe, number, percent

Facts = dict[str, Any]


def acceptance_facts(name: str, table: AcceptanceTable) -> Facts:
    """Return what a table of acceptance is of."""
    return {
        "name": name,
        "drafter": table.drafter,
        "draft_tokens": table.draft_tokens,
        "models": list(table.models),
        "domains": list(dict.fromkeys(row.domain for row in table.rows)),
        "hardware": table.hardware,
        "as_of": table.as_of,
        "source": table.source,
        "note": table.note,
    }


def acceptance_table(facts: list[Facts]) -> Table:
    """Return one line for each table of acceptance; the sources are a table of their own."""
    numbers = source_numbers(facts)
    rows = tuple(
        (
            fact["name"],
            fact["drafter"],
            str(fact["draft_tokens"]),
            ", ".join(fact["models"]),
            ", ".join(fact["domains"]),
            str(numbers[source_of(fact)]),
        )
        for fact in facts
    )
    heads = columns("<table", "<drafter", "k", "<models", "<domains", "source")
    note = "k: tokens drafted in a round, as published"
    return Table("Published acceptance", heads, rows, note)


def acceptance_rows(table: AcceptanceTable) -> list[Facts]:
    """Return every row of a table of acceptance, with what it amounts to."""
    return [_row(table, row) for row in table.rows]


def _row(table: AcceptanceTable, row: Row) -> Facts:
    drafts = row.stated_positions or table.draft_tokens
    survival = row.survival_of(drafts)
    return {
        "model": row.model or ", ".join(table.models),
        "domain": row.domain,
        "temperature": row.temperature,
        "draft_tokens": drafts,
        "first_acceptance": survival[0],
        "tokens_per_pass": 1.0 + sum(survival),
        "stated_as": row.ways[0],
    }


def acceptance_rows_table(facts: Iterable[Facts]) -> Table:
    """Return the rows of one table of acceptance."""
    rows = tuple(
        (
            fact["model"],
            fact["domain"],
            maybe(fact["temperature"], lambda value: f"{value:g}"),
            str(fact["draft_tokens"]),
            percent(fact["first_acceptance"]),
            number(fact["tokens_per_pass"]),
            fact["stated_as"].replace("_", " "),
        )
        for fact in facts
    )
    heads = ("<model", "<domain", "temperature", "drafts", "first draft accepted",
             "tokens per pass", "<published as")  # fmt: skip
    note = f"{NOTHING}: the source does not say; tokens per pass: drafts and the one that is added"
    return Table("Acceptance", columns(*heads), rows, note)


def denoising_facts(name: str, row: DenoiseRow) -> Facts:
    """Return a published figure of tokens per denoise pass."""
    return {"table": name, **row.model_dump(mode="json")}


def denoising_table(facts: list[Facts]) -> Table:
    """Return one line for each figure; the sources are a table of their own."""
    numbers = source_numbers(facts)
    rows = tuple(
        (
            fact["table"],
            fact["domain"],
            maybe(fact["threshold"], lambda value: f"{value:g}"),
            fact["mode"] or NOTHING,
            maybe(fact["block_tokens"], lambda value: f"{value:,}"),
            f"{number(fact['tokens_per_pass'])}{' *' if fact['derived'] else ''}",
            str(numbers[source_of(fact)]),
        )
        for fact in facts
    )
    heads = ("<table", "<domain", "threshold", "<mode", "block", "tokens per pass", "source")
    note = "*: worked out from other published figures"
    return Table("Published tokens per denoise pass", columns(*heads), rows, note)
