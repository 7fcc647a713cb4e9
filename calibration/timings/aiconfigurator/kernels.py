"""Products, attention and experts of the wheel as rows of our schema.

What its columns mean was read from its collector: `latency` is in milliseconds, a mean over
CUDA events after a warm-up.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from calibration.timings.aiconfigurator.served import (
    MIXED,
    SM100,
    experts_served,
    latent_served,
)
from calibration.timings.aiconfigurator.sisters import confirmed
from calibration.timings.aiconfigurator.wheel import Rows, read_rows
from calibration.timings.schema import MXFP8
from calibration.timings.table import from_columns
from sim.records import FloatArray
from sim.units import MS_PER_S

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS: Final = MappingProxyType(
    {
        "bfloat16": "bf16",
        "fp8": "fp8",
        "fp8_block": "fp8_block",
        "nvfp4": "nvfp4",
        "sq": "int8",
        "int4_wo": "int4",
        "w4a16_mxfp4": "mxfp4",
        "w4a8_mxfp4_mxfp8": "mxfp4",
    }
)
"""Of the wheel's names of formats, those that our cost model multiplies or stores."""
GEMM_FORMATS: Final = ("bfloat16", "fp8", "fp8_block", "nvfp4", "sq")
"""Weight-only products run in 16 bits in our cost model and take their coefficients."""
UNGATED: Final = frozenset({(2688, 1856), (1024, 2688), (2048, 5120), (8192, 5120)})
"""(hidden, expert) widths of the public models whose experts have two matrices, not three."""
LATENT: Final = (576, 512)
"""Widths of a key and a value of absorbed latent attention: 512 + 64 and 512."""
LATENT_PREFILL: Final = (192, 128)
"""Widths before absorption, in which the FLOP of a prompt are counted."""


def gemms(system: str, gpu: str, engine: str) -> Iterator["pa.Table"]:
    """Yield the matrix products.

    vLLM's fp8_block rows ran eagerly and hold host time (57 to 175 µs): they are left out. Its
    fp8 products on compute capability 10 jump between two times from one M to the next.
    """
    rows = read_rows(system, "gemm", engine, "gemm_perf")
    if rows is None:
        return
    known = np.isin(rows.columns["gemm_dtype"], GEMM_FORMATS)
    if engine == "vllm":
        known &= rows.columns["gemm_dtype"] != "fp8_block"
    rows = rows.where(known)
    m, n, k = (rows.columns[name] for name in ("m", "n", "k"))
    latency = rows.number("latency") / MS_PER_S
    if engine == "vllm" and gpu in SM100:
        latency = _running_minimum(rows, latency)
    yield _table(
        rows,
        gpu,
        "gemm",
        latency_s=latency,
        precision=_named(rows.columns["gemm_dtype"]),
        kernel=rows.columns["kernel_source"],
        captured=True,
        cold=True,
        tokens=m,
        outer=n,
        inner=k,
    )


def _running_minimum(rows: Rows, latency: FloatArray) -> FloatArray:
    """Return fp8 times cut to the shortest of any larger M with the same N and K.

    A product with fewer rows need not take longer: it can be padded. Others stay as they are.
    """
    columns, found = rows.columns, latency.copy()
    fp8 = columns["gemm_dtype"] == "fp8"
    order = np.lexsort((-columns["m"].astype(int), columns["n"], columns["k"], fp8))
    keys = np.stack([columns["n"][order], columns["k"][order], fp8[order]])
    starts = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
    for begin, end in zip(starts, [*starts[1:], len(order)], strict=True):
        group = order[begin:end]
        if fp8[group[0]]:
            found[group] = np.minimum.accumulate(latency[group])
    return found


def attention(system: str, gpu: str, engine: str) -> Iterator["pa.Table"]:
    """Yield decode and prefill attention.

    In decode `step` is the history before the new token, so the context is step + 1. In prefill
    `isl` is the length of the prompt and there is no history.
    """
    for name, operation in (
        ("generation_attention_perf", "decode_attention"),
        ("context_attention_perf", "prefill_attention"),
    ):
        rows = read_rows(system, "attention", engine, name)
        if rows is None:
            continue
        rows = rows.where(
            np.isin(rows.columns["attn_dtype"], list(FORMATS))
            & np.isin(rows.columns["kv_cache_dtype"], list(FORMATS))
        )
        decode = operation == "decode_attention"
        window = rows.columns.get("window_size", np.zeros(len(rows), dtype=int))
        queries = np.ones(len(rows), dtype=int) if decode else rows.columns["isl"]
        kv_heads = rows.columns["num_key_value_heads"]
        heads = rows.columns["num_heads"]
        yield _table(
            rows,
            gpu,
            operation,
            precision=_named(rows.columns["attn_dtype"]),
            kv_precision=_named(rows.columns["kv_cache_dtype"]),
            kernel=rows.columns["kernel_source"],
            captured=True,
            sequences=rows.columns["batch_size"],
            query_tokens=queries,
            context_tokens=rows.columns["step"] + 1 if decode else rows.columns["isl"],
            heads=heads,
            kv_heads=np.where(kv_heads == 0, heads, kv_heads),  # 0: one a head
            head_dim=rows.columns["head_dim"],
            value_dim=rows.columns["head_dim"],
            window_tokens=_or_null(window),
        )


def latent(system: str, gpu: str, engine: str) -> Iterator["pa.Table"]:
    """Yield MLA kernels. vLLM's tables time whole modules with their host time: none are read."""
    if engine == "vllm":
        return
    for name, operation, (key, value) in (
        ("generation_mla_perf", "latent_attention", LATENT),
        ("context_mla_perf", "latent_prefill", LATENT_PREFILL),
    ):
        rows = read_rows(system, "mla", engine, name)
        if rows is None:
            continue
        decode = operation == "latent_attention"
        if decode:
            rows = rows.where(latent_served(rows.columns))
        lengths = rows.columns["isl"]
        yield _table(
            rows,
            gpu,
            operation,
            precision=_named(rows.columns["mla_dtype"]),
            kv_precision=_named(rows.columns["kv_cache_dtype"]),
            kernel=rows.columns["kernel_source"],
            captured=True,
            sequences=rows.columns["batch_size"],
            query_tokens=np.ones(len(rows), dtype=int) if decode else lengths,
            context_tokens=rows.columns["step"] + 1 if decode else lengths,
            heads=rows.columns["num_heads"],
            kv_heads=1,
            head_dim=key,
            value_dim=value,
        )


def experts(system: str, gpu: str, engine: str) -> Iterator["pa.Table"]:
    """Yield routed experts of one rank; `num_tokens` counts the tokens of all ranks."""
    rows = read_rows(system, "moe", engine, "moe_perf")
    if rows is None:
        return
    rows = rows.where(
        np.isin(rows.columns["moe_dtype"], list(FORMATS))
        & experts_served(rows.columns, gpu, engine)
    )
    yield expert_table(rows.where(confirmed(rows, gpu)), gpu)


def expert_table(rows: Rows, gpu: str) -> "pa.Table":
    """Return rows of routed experts as rows of the schema."""
    hidden, width = rows.columns["hidden_size"], rows.columns["inter_size"]
    ungated = np.zeros(len(rows), dtype=bool)
    for pair in UNGATED:
        ungated |= (hidden == pair[0]) & (width == pair[1])
    return _table(
        rows,
        gpu,
        "experts",
        precision=_named(rows.columns["moe_dtype"]),
        kernel=_with_activations(rows),
        captured=True,
        tokens=rows.columns["num_tokens"],
        experts=rows.columns["num_experts"],
        active_experts=rows.columns["topk"],
        hidden_size=hidden,
        intermediate_size=width,
        gated=~ungated,
        tensor_parallel=rows.columns["moe_tp_size"],
        expert_parallel=rows.columns["moe_ep_size"],
        routing=rows.columns["distribution"],
    )


def _table(rows: Rows, gpu: str, operation: str, **columns: Any) -> "pa.Table":  # noqa: ANN401
    """Return rows of the schema; times come in milliseconds unless they are given."""
    columns.setdefault("latency_s", rows.number("latency") / MS_PER_S)
    facts = {
        "operation": operation,
        "gpu": gpu,
        "engine": rows.engine,
        "engine_version": rows.version,
        "source": rows.source,
    }
    return from_columns({**facts, **columns}, len(rows))


def _with_activations(rows: Rows) -> list[str]:
    """Return the kernels' names, with the activations where those are not the weights' usual."""
    pairs = zip(rows.columns["kernel_source"], rows.columns["moe_dtype"], strict=True)
    return [f"{kernel}_{MXFP8}" if kind == MIXED else str(kernel) for kernel, kind in pairs]


def _named(formats: Any) -> list[str]:  # noqa: ANN401  # an array of text
    return [FORMATS[name] for name in formats]


def _or_null(window: Any) -> "pa.Array":  # noqa: ANN401
    import pyarrow as pa

    return pa.array(window, mask=np.asarray(window) == 0)
