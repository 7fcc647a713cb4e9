"""`paretoken list`: what a scenario can name, with the facts that matter."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from app.cli.exits import ANSWER
from app.cli.output import emit_json
from app.cli.page import Page
from sim.economics.price_list import list_price_lists, load_price_list
from sim.hardware import list_gpus, load_gpu
from sim.model import list_models, load_model
from sim.report.table import Table, columns
from sim.report.words import count, maybe, number, usd
from sim.scenario import list_scenarios, load_scenario
from sim.units import GIB, GIGA, TERA
from sim.workload import list_workloads, load_workload_preset

Kind = Literal["models", "hardware", "workloads", "scenarios", "prices"]
Facts = dict[str, Any]


def list_kind(kind: Kind, *, as_json: bool) -> int:
    """Print one part of the catalog."""
    facts = _FACTS[kind]()
    if as_json:
        emit_json({kind: facts})
        return ANSWER
    page = Page()
    page.table(_TABLES[kind](facts))
    page.show()
    return ANSWER


def model_facts(reference: str) -> Facts:
    """Return what is counted of a model; the KV cache as the checkpoint keeps it."""
    model = load_model(reference)
    return {
        "name": model.name,
        "total_parameters": model.total_parameters,
        "active_parameters": model.active_parameters,
        "kv_bytes_per_token": model.kv_bytes_per_token(_BF16_BYTES),
        "kv_precision": "bf16",
        "weights": model.weights,
        "layers": model.layers,
        "hidden_size": model.hidden_size,
        "heads": model.heads,
        "kv_heads": model.kv_heads,
        "head_dim": model.head_dim,
        "intermediate_size": model.intermediate_size,
        "vocab_size": model.vocab_size,
        "tied_embeddings": model.tied_embeddings,
        "max_context_tokens": model.max_context_tokens,
        "causal": model.causal,
        "source": model.source,
    }


_BF16_BYTES: Final = 2.0
"""Checkpoints, fp8 ones included, keep the KV cache in bf16; a deployment may say otherwise."""


def _models() -> list[Facts]:
    return [model_facts(name) for name in list_models()]


def _model_table(facts: list[Facts]) -> Table:
    rows = tuple(
        (
            row["name"],
            f"{row['total_parameters'] / GIGA:.2f}",
            count(row["layers"]),
            f"{row['kv_bytes_per_token'] / 1024:.0f}",
            count(row["max_context_tokens"]),
        )
        for row in facts
    )
    heads = columns("<model", "billion parameters", "layers", "KV KiB/token", "context")
    return Table("Models", heads, rows, "KV cache of all layers, in bf16")


def _hardware() -> list[Facts]:
    facts = []
    for name in list_gpus():
        gpu = load_gpu(name)
        facts.append(
            {
                "name": name,
                "vendor": gpu.vendor,
                "memory_gib": gpu.memory_bytes.value / GIB,
                "memory_bandwidth_tb_per_s": gpu.memory_bandwidth_bytes_per_s.value / TERA,
                "bf16_dense_tflop_per_s": gpu.bf16_dense_flop_per_s.value / TERA,
                "fp8_dense_tflop_per_s": None
                if gpu.fp8_dense_flop_per_s is None
                else gpu.fp8_dense_flop_per_s.value / TERA,
                "link_one_way_gb_per_s": gpu.link_one_way_bytes_per_s.value / GIGA,
                "gpus_per_node": int(gpu.gpus_per_node.value),
            }
        )
    return facts


def _hardware_table(facts: list[Facts]) -> Table:
    rows = tuple(
        (
            row["name"],
            number(row["memory_gib"]),
            number(row["memory_bandwidth_tb_per_s"]),
            count(row["bf16_dense_tflop_per_s"]),
            maybe(row["fp8_dense_tflop_per_s"], count),
            count(row["link_one_way_gb_per_s"]),
        )
        for row in facts
    )
    heads = columns("<hardware", "GiB", "TB/s", "bf16 TFLOP/s", "fp8 TFLOP/s", "link GB/s")
    return Table("Hardware", heads, rows, "Peaks of the datasheets, dense; link in one direction")


def _workloads() -> list[Facts]:
    facts = []
    for name in list_workloads():
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


def _scenarios() -> list[Facts]:
    facts = []
    for name in list_scenarios():
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


def _prices() -> list[Facts]:
    return [
        {"list": name, **quote.model_dump(mode="json")}
        for name in list_price_lists()
        for quote in load_price_list(name).prices
    ]


def _price_table(facts: list[Facts]) -> Table:
    rows = tuple(
        (
            row["list"],
            row["gpu"],
            row["term"].replace("_", " "),
            usd(row["usd_per_gpu_hour"]),
            row["as_of"],
        )
        for row in facts
    )
    heads = columns("<list", "<hardware", "<term", "per GPU-hour", "<as of")
    return Table("Prices", heads, rows, "Sources: paretoken list prices --json")


_FACTS: Final[Mapping[Kind, Callable[[], list[Facts]]]] = {
    "models": _models,
    "hardware": _hardware,
    "workloads": _workloads,
    "scenarios": _scenarios,
    "prices": _prices,
}
_TABLES: Final[Mapping[Kind, Callable[[list[Facts]], Table]]] = {
    "models": _model_table,
    "hardware": _hardware_table,
    "workloads": _workload_table,
    "scenarios": _scenario_table,
    "prices": _price_table,
}
