"""GPUs as tables: one line each, or one with the source of each figure."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sim.economics.price_list import Quote
from sim.hardware import GpuProfile, Sourced
from sim.precision import Precision
from sim.report.table import Table, columns
from sim.report.words import NOTHING, count, maybe, number
from sim.units import GIB, GIGA, TERA

PEAKS: Final[tuple[Precision, ...]] = ("bf16", "fp16", "fp8", "int8", "nvfp4", "mxfp4")
"""Formats that matrix units may know."""
_LINKS: Final = {
    "nvlink": "NVLink",
    "infinity_fabric": "Infinity Fabric",
    "pcie": "PCIe",
    "other": "other",
}
_LACKS: Final = "its matrix units lack the format"
_UNSAID: Final = {
    "fp16_dense_flop_per_s": "the same as in bf16",
    "l2_bytes": "not published, or not found",
    "network_one_way_bytes_per_s": "nobody knows yours",
}
Facts = dict[str, Any]


def gpu_facts(gpu: GpuProfile, quotes: Iterable[tuple[str, Quote]] = ()) -> Facts:
    """Return the figures of a GPU in the units of datasheets, and what each price list asks.

    `quotes` are pairs of list and price; where a list has several of a term, the lowest counts.
    """
    peaks = {precision: gpu.peak_flop_per_s(precision) for precision in PEAKS}
    prices: dict[str, dict[str, float]] = {}
    for name, quote in quotes:
        terms = prices.setdefault(name, {})
        known = terms.get(quote.term, quote.usd_per_gpu_hour)
        terms[quote.term] = min(known, quote.usd_per_gpu_hour)
    network = gpu.network_one_way_bytes_per_s
    return {
        "name": gpu.name,
        "vendor": gpu.vendor,
        "memory_gib": gpu.memory_bytes.value / GIB,
        "memory_bandwidth_tb_per_s": gpu.memory_bandwidth_bytes_per_s.value / TERA,
        **{
            f"{precision}_dense_tflop_per_s": None if peak is None else peak / TERA
            for precision, peak in peaks.items()
        },
        "half_precision": gpu.half_precision,
        "link_kind": gpu.link_kind,
        "link_one_way_gb_per_s": gpu.link_one_way_bytes_per_s.value / GIGA,
        "gpus_per_node": int(gpu.gpus_per_node.value),
        "network_one_way_gb_per_s": None if network is None else network.value / GIGA,
        "tdp_w": gpu.tdp_w.value,
        "usd_per_gpu_hour": prices,
    }


def hardware_table(facts: list[Facts]) -> Table:
    """Return one line for each GPU."""
    rows = tuple(
        (
            row["name"],
            count(row["memory_gib"]),
            number(row["memory_bandwidth_tb_per_s"], 2),
            count(row["bf16_dense_tflop_per_s"]),
            maybe(row["fp8_dense_tflop_per_s"], count),
            maybe(row["int8_dense_tflop_per_s"], count),
            maybe(_fp4(row), count),
            f"{row['gpus_per_node']} × {count(row['link_one_way_gb_per_s'])}",
            _range(row["usd_per_gpu_hour"]),
        )
        for row in facts
    )
    heads = ("<hardware", "GiB", "TB/s", "bf16", "fp8", "int8", "fp4", "link", "$ an hour")
    note = (
        "bf16 to fp4: dense TFLOP/s of the datasheets (fp16 where a GPU has no bf16); link: GPUs"
        " of a node × GB/s in one direction; $ an hour: on demand, lowest to highest of the lists"
        " (paretoken list prices HARDWARE has them all)"
    )
    return Table("Hardware", columns(*heads), rows, note)


def profile_table(gpu: GpuProfile) -> Table:
    """Return every figure of a profile in SI units, with source and date."""
    rows: list[tuple[str, ...]] = []
    for key in GpuProfile.model_fields:
        value = getattr(gpu, key)
        if isinstance(value, Sourced):
            note = f"; {value.note}" if value.note else ""
            source = f"{value.source} ({value.as_of}){note}"
            rows.append((key.replace("_", " "), _engineering(value.value), source))
        elif value is None:
            rows.append((key.replace("_", " "), NOTHING, _UNSAID.get(key, _LACKS)))
    link = f"Joined by {_LINKS[gpu.link_kind]}; in SI units"
    heads = columns("<", "value", "<source")
    return Table(f"{gpu.name} ({gpu.vendor})", heads, tuple(rows), link)


def _fp4(row: Facts) -> float | None:
    fp4: float | None = row["nvfp4_dense_tflop_per_s"] or row["mxfp4_dense_tflop_per_s"]
    return fp4


def _range(prices: Mapping[str, Mapping[str, float]]) -> str:
    """Return the lowest and the highest price on demand.

    >>> _range({"runpod": {"on_demand": 2.79}, "aws": {"on_demand": 6.88, "spot": 2.0}})
    '2.79–6.88'
    """
    asked = [terms["on_demand"] for terms in prices.values() if "on_demand" in terms]
    if not asked:
        return NOTHING
    low, high = f"{min(asked):.2f}", f"{max(asked):.2f}"
    return low if low == high else f"{low}–{high}"


def _engineering(value: float) -> str:
    """Return a figure with its SI prefix.

    >>> _engineering(3.35e12)
    '3.35 T'
    """
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{number(value / factor)} {prefix}"
    return count(value)
