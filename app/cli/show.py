"""`paretoken show`: all that is known of one model, GPU, engine, list, workload or scenario."""

from pathlib import Path
from typing import Any

import yaml

from app.cli.catalog import list_kind, model_names, price_quotes
from app.cli.decoding_catalog import show_acceptance, show_engine
from app.cli.exits import ANSWER
from app.cli.options import OneKind
from app.cli.output import emit, emit_json
from app.cli.page import Page
from sim.economics.api_prices import list_api_price_lists, load_api_price_list
from sim.economics.price_list import list_price_lists, load_price_list
from sim.errors import UnknownNameError
from sim.hardware import load_gpu
from sim.model import load_model
from sim.report.document import scenario_document
from sim.report.machines import profile_table
from sim.report.models import (
    cache_table,
    model_answer,
    model_facts,
    model_lines,
    parameters_table,
)
from sim.report.price_tables import (
    api_facts,
    api_prices_table,
    prices_table,
    quote_facts,
)
from sim.report.sources import sources_table
from sim.scenario import load_scenario
from sim.workload import load_workload_preset
from sim.yaml_files import read_yaml


def show_one(kind: OneKind, reference: str, *, as_json: bool) -> int:
    """Print one thing of the catalog, or of a file."""
    match kind:
        case "quality" | "denoising":  # a list of rows: those of one name are all that is known
            return list_kind(kind, reference, as_json=as_json)
        case "model":
            _model(reference, as_json=as_json)
        case "hardware":
            _hardware(reference, as_json=as_json)
        case "engine":
            show_engine(reference, as_json=as_json)
        case "acceptance":
            show_acceptance(reference, as_json=as_json)
        case "prices":
            _prices(reference, as_json=as_json)
        case "workload":
            preset = load_workload_preset(reference)
            _keys(preset.model_dump(mode="json", exclude_none=True), as_json=as_json)
        case "scenario":
            _keys(scenario_document(load_scenario(reference)), as_json=as_json)
    return ANSWER


def _keys(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        emit_json(facts)
    else:
        emit(yaml.safe_dump(facts, sort_keys=False, allow_unicode=True, width=100))


def _model(reference: str, *, as_json: bool) -> None:
    model, names = load_model(reference), model_names(reference)
    if as_json:
        emit_json(model_facts(model, names))
        return
    page = Page()
    page.line(model_answer(model), style="bold")
    for line in model_lines(model):
        page.line(line)
    page.table(parameters_table(model))
    page.table(cache_table(model))
    page.points("Also called", names[1:])
    page.show()


def _hardware(reference: str, *, as_json: bool) -> None:
    """Show a profile in SI units, each figure with its source, and what its hours cost."""
    gpu = load_gpu(reference)
    if as_json:
        emit_json(gpu.model_dump(mode="json"))
        return
    page = Page()
    page.table(profile_table(gpu))
    quotes = [quote_facts(name, quote) for name, quote in price_quotes() if quote.gpu == gpu.name]
    if quotes:
        ordered = sorted(quotes, key=lambda row: row["usd_per_gpu_hour"])
        page.table(prices_table(ordered))
        page.table(sources_table(ordered))
    page.show()


def _prices(reference: str, *, as_json: bool) -> None:
    """Show a list of GPU prices, of API prices, or both where a provider has both."""
    gpus, apis = _price_facts(reference)
    if as_json:
        emit_json({"prices": gpus, "api_prices": apis})
        return
    page = Page()
    if gpus:
        page.table(prices_table(gpus))
        page.table(sources_table(gpus))
    if apis:
        page.table(api_prices_table(apis))
        page.table(sources_table(apis))
    page.show()


def _price_facts(reference: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the prices of GPU-hours, and those of hosted APIs."""
    gpus, apis = reference in list_price_lists(), reference in list_api_price_lists()
    if not gpus and not apis:
        apis = _is_of_an_api(reference)
        gpus = not apis
    quotes = load_price_list(reference).prices if gpus else ()
    prices = load_api_price_list(reference).prices if apis else ()
    return (
        [quote_facts(reference, quote) for quote in quotes],
        [api_facts(reference, price) for price in prices],
    )


def _is_of_an_api(reference: str) -> bool:
    """Tell whether a file of the user's own holds prices of models, not of GPUs."""
    path = Path(reference).expanduser()
    if not path.exists():
        known = {*list_price_lists(), *list_api_price_lists()}
        raise UnknownNameError("price list", reference, known)
    rows = read_yaml(path).get("prices")
    return isinstance(rows, list) and any(isinstance(row, dict) and "model" in row for row in rows)
