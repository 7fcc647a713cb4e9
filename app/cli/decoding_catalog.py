"""Parts of the catalog that decoding and engines go by, for `list` and `show`."""

from typing import Any

from app.cli.output import emit_json
from app.cli.page import Page
from sim.decoding.denoise_tables import list_denoise_tables, load_denoise_table
from sim.decoding.published import list_acceptance, load_acceptance
from sim.hardware import list_engines, load_engine, load_engine_file
from sim.report.engines import engine_facts, engines_table, setting_facts, settings_table
from sim.report.published import (
    acceptance_facts,
    acceptance_rows,
    acceptance_rows_table,
    acceptance_table,
    denoising_facts,
)
from sim.report.sources import sources_table

Facts = dict[str, Any]


def acceptance_list() -> list[tuple[tuple[str, ...], Facts]]:
    """Return every table of acceptance, each with the words that it is found by."""
    tables = ((name, load_acceptance(name)) for name in list_acceptance())
    return [
        ((name, table.drafter, *table.models), acceptance_facts(name, table))
        for name, table in tables
    ]


def denoising_list() -> list[tuple[tuple[str, ...], Facts]]:
    """Return every published figure of tokens per denoise pass, with the name of its table."""
    return [
        ((name,), denoising_facts(name, row))
        for name in list_denoise_tables()
        for row in load_denoise_table(name).rows
    ]


def engine_list() -> list[tuple[tuple[str, ...], Facts]]:
    """Return every engine preset with its name."""
    return [((name,), engine_facts(load_engine(name))) for name in list_engines()]


def show_acceptance(reference: str, *, as_json: bool) -> None:
    """Show a table of acceptance row by row, and how a scenario names it."""
    table = load_acceptance(reference)
    facts, rows = acceptance_facts(reference, table), acceptance_rows(table)
    if as_json:
        emit_json({**facts, "rows": rows})
        return
    page = Page()
    page.table(acceptance_table([facts]))
    page.table(acceptance_rows_table(rows))
    page.table(sources_table([facts]))
    page.line()
    first = table.rows[0]
    keys = {"name": "speculative", "drafter": table.drafter, "draft_tokens": table.draft_tokens,
            "table": reference, "domain": first.domain, "temperature": first.temperature,
            "measured_with": first.model}  # fmt: skip
    given = ", ".join(f"{key}: {value}" for key, value in keys.items() if value is not None)
    page.line(f"In a scenario, for example: decoding: {{{given}}}")
    page.show()


def show_engine(reference: str, *, as_json: bool) -> None:
    """Show an engine preset, and who says each of its settings."""
    facts, settings = (
        engine_facts(load_engine(reference)),
        setting_facts(load_engine_file(reference)),
    )
    if as_json:
        emit_json({**facts, "settings": settings})
        return
    page = Page()
    page.table(engines_table([facts]))
    page.table(settings_table(settings))
    page.table(sources_table(settings))
    page.show()
