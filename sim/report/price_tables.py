"""Prices as tables, those of several lists side by side: GPU-hours, and tokens of hosted APIs."""

from typing import Any

from sim.economics.api_prices import ApiPrice
from sim.economics.price_list import Quote
from sim.report.sources import source_numbers, source_of
from sim.report.table import Table, columns
from sim.report.words import maybe, usd

Facts = dict[str, Any]


def quote_facts(name: str, quote: Quote) -> Facts:
    """Return a price with the list that it stands in."""
    return {"list": name, **quote.model_dump(mode="json")}


def api_facts(name: str, price: ApiPrice) -> Facts:
    """Return a price with the list that it stands in."""
    return {"list": name, **price.model_dump(mode="json")}


def prices_table(facts: list[Facts]) -> Table:
    """Return one line for each price of a GPU-hour; the sources are a table of their own."""
    numbers = source_numbers(facts)
    rows = tuple(
        (
            row["gpu"],
            row["list"],
            row["term"].replace("_", " "),
            usd(row["usd_per_gpu_hour"]),
            str(row["gpus_per_instance"]),
            row["as_of"],
            str(numbers[source_of(row)]),
        )
        for row in facts
    )
    heads = ("<hardware", "<list", "<term", "$/GPU-hour", "GPUs", "<as of", "source")
    return Table("Prices", columns(*heads), rows, "GPUs: rented together")


def api_prices_table(facts: list[Facts]) -> Table:
    """Return one line for each price of a hosted model; the sources are a table of their own."""
    numbers = source_numbers(facts)
    rows = tuple(
        (
            row["model"],
            row["list"],
            usd(row["usd_per_million_input_tokens"]),
            maybe(row["usd_per_million_cached_input_tokens"], usd),
            usd(row["usd_per_million_output_tokens"]),
            row["as_of"],
            str(numbers[source_of(row)]),
        )
        for row in facts
    )
    heads = ("<model", "<host", "input", "cached", "output", "<as of", "source")
    note = "USD per million tokens; no figure for cached input: charged as other input"
    return Table("Prices of hosted APIs", columns(*heads), rows, note)
