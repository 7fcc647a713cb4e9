"""`paretoken list`: what a scenario can name, with the facts that matter."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from app.cli.decoding_catalog import acceptance_list, denoising_list, engine_list
from app.cli.exits import ANSWER
from app.cli.options import Kind
from app.cli.output import emit_json
from app.cli.page import Page
from sim.economics.api_prices import ApiPrice, list_api_price_lists, load_api_price_list
from sim.economics.price_list import Quote, list_price_lists, load_price_list
from sim.errors import InputError
from sim.hardware import list_gpus, load_gpu
from sim.model import list_models, load_model
from sim.model.load import names_of
from sim.quality import all_scores
from sim.report.engines import engines_table
from sim.report.machines import gpu_facts, hardware_table
from sim.report.models import model_facts, models_table
from sim.report.price_tables import (
    api_facts,
    api_prices_table,
    prices_table,
    quote_facts,
)
from sim.report.published import acceptance_table, denoising_table
from sim.report.quality import score_facts, scores_table
from sim.report.sources import sources_table
from sim.report.table import Table, columns
from sim.report.words import count, number
from sim.scenario import list_scenarios, load_scenario
from sim.workload import list_workloads, load_workload_preset

Facts = dict[str, Any]


def list_kind(kind: Kind, word: str | None, *, as_json: bool) -> int:
    """Print one part of the catalog: all of it, or what has a word in its name."""
    facts = _FACTS[kind](word)
    if not facts:
        raise InputError(f"nothing among the {kind} goes by `{word}`", remedy=_remedy(kind))
    if as_json:
        emit_json({kind.replace("-", "_"): facts})
        return ANSWER
    page = Page()
    page.table(_TABLES[kind](facts))
    if kind not in {"models", "hardware", "workloads", "scenarios"}:
        page.table(sources_table(facts))
    page.show()
    return ANSWER


def model_names(reference: str) -> tuple[str, ...]:
    """Return every name of a model of the catalog; none for one of the user's own."""
    return names_of(reference) if reference in list_models() else ()


def price_quotes() -> list[tuple[str, Quote]]:
    """Return every price of every shipped list, each with the name of its list."""
    return [(name, quote) for name in list_price_lists() for quote in load_price_list(name).prices]


def chosen(names: Iterable[str], word: str | None) -> bool:
    """Tell whether a thing with these names is meant: one of them holds the word."""
    return word is None or any(_plain(word) in _plain(name) for name in names)


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _narrowed(names: tuple[str, ...], word: str | None) -> tuple[str, ...]:
    """Return the names that are meant: the one that is the word, else those that hold it."""
    same = [name for name in names if word is not None and _plain(name) == _plain(word)]
    return tuple(same or (name for name in names if chosen((name,), word)))


def _remedy(kind: Kind) -> str:
    return f"see all with: paretoken list {kind}"


def _models(word: str | None) -> list[Facts]:
    if word in list_models():
        return [model_facts(load_model(word), names_of(word))]
    known = {name: names_of(name) for name in list_models()}
    return [
        model_facts(load_model(name), names)
        for name, names in known.items()
        if chosen(names, word)
    ]


def _hardware(word: str | None) -> list[Facts]:
    quotes: dict[str, list[tuple[str, Quote]]] = {}
    for name, quote in price_quotes():
        quotes.setdefault(quote.gpu, []).append((name, quote))
    names = _narrowed(list_gpus(), word)
    return [gpu_facts(load_gpu(name), quotes.get(name, ())) for name in names]


def _prices(word: str | None) -> list[Facts]:
    quotes = price_quotes()
    gpus = _narrowed(tuple(sorted({quote.gpu for _, quote in quotes})), word)
    meant = [
        (name, quote)
        for name, quote in quotes
        if quote.gpu in gpus or (word is not None and _plain(name) == _plain(word))
    ]
    ordered = sorted(meant, key=lambda pair: (pair[1].gpu, pair[1].usd_per_gpu_hour))
    return [quote_facts(name, quote) for name, quote in ordered]


def _api_prices(word: str | None) -> list[Facts]:
    prices = [
        (name, price)
        for name in list_api_price_lists()
        for price in load_api_price_list(name).prices
    ]
    known = {known.lower() for known in model_names(word or "")}
    meant = [pair for pair in prices if pair[1].model.lower() in known]
    if not meant:
        meant = [(name, price) for name, price in prices if chosen((name, *_called(price)), word)]
    ordered = sorted(
        meant, key=lambda pair: (pair[1].model.lower(), pair[1].usd_per_million_output_tokens)
    )
    return [api_facts(name, price) for name, price in ordered]


def _called(price: ApiPrice) -> tuple[str, ...]:
    return (price.model, *([price.served_as] if price.served_as else []))


def _workloads(word: str | None) -> list[Facts]:
    facts = []
    for name in _narrowed(list_workloads(), word):
        preset = load_workload_preset(name)
        facts.append(
            {
                "name": name,
                "description": preset.description,
                "mean_input_tokens": preset.input_tokens.mean,
                "mean_output_tokens": preset.output_tokens.mean,
                "requests_per_s": preset.measured_arrivals.requests_per_s,
                "as_of": preset.source.as_of,
                "source": preset.source.url,
            }
        )
    return facts


def _workload_table(facts: list[Facts]) -> Table:
    rows = tuple(
        (
            row["name"],
            count(row["mean_input_tokens"]),
            count(row["mean_output_tokens"]),
            number(row["requests_per_s"]),
            row["description"],
        )
        for row in facts
    )
    heads = columns("<workload", "input", "output", "requests/s", "<what it is")
    return Table("Workloads", heads, rows, "Mean tokens per request, and the rate as recorded")


def _scenarios(word: str | None) -> list[Facts]:
    facts = []
    for name in _narrowed(list_scenarios(), word):
        scenario = load_scenario(name)
        facts.append(
            {
                "name": name,
                "model": scenario.model if isinstance(scenario.model, str) else "inline",
                "hardware": scenario.hardware,
                "gpus": scenario.deployment.gpus,
                "decoding": scenario.decoding.name,
                "description": scenario.description,
            }
        )
    return facts


def _scenario_table(facts: list[Facts]) -> Table:
    rows = tuple(
        (row["name"], f"{row['gpus']} × {row['hardware']}", row["description"] or "")
        for row in facts
    )
    return Table("Scenarios", columns("<scenario", "<hardware", "<what it is"), rows)


def _quality(word: str | None) -> list[Facts]:
    return [
        score_facts(score)
        for score in all_scores()
        if chosen((score.row.model, score.row.checkpoint or "", score.row.benchmark), word)
    ]


def _found(known: list[tuple[tuple[str, ...], Facts]], word: str | None) -> list[Facts]:
    """Return the facts that are meant: those of the name that is the word, else that hold it."""
    same = [facts for names, facts in known if word is not None and _plain(word) == names[0]]
    return same or [facts for names, facts in known if chosen(names, word)]


_FACTS: Final[Mapping[Kind, Callable[[str | None], list[Facts]]]] = {
    "models": _models,
    "hardware": _hardware,
    "workloads": _workloads,
    "scenarios": _scenarios,
    "prices": _prices,
    "api-prices": _api_prices,
    "quality": _quality,
    "engines": lambda word: _found(engine_list(), word),
    "acceptance": lambda word: _found(acceptance_list(), word),
    "denoising": lambda word: _found(denoising_list(), word),
}
_TABLES: Final[Mapping[Kind, Callable[[list[Facts]], Table]]] = {
    "models": models_table,
    "hardware": hardware_table,
    "workloads": _workload_table,
    "scenarios": _scenario_table,
    "prices": prices_table,
    "api-prices": api_prices_table,
    "quality": scores_table,
    "engines": engines_table,
    "acceptance": acceptance_table,
    "denoising": denoising_table,
}
