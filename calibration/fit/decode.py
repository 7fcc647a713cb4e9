"""Decode attention, grouped and latent: a fixed time, a time per item, and the KV read."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from calibration.fit.grid import GridTable, Knots
from calibration.fit.problem import Problem, groups_of
from calibration.fit.solve import Coefficient
from calibration.fit.source import Source, kernels_of
from calibration.timings import Timings
from sim.cost.forms import decode_attention_s
from sim.hardware import DecodeAttentionFit
from sim.precision import BYTES_PER_WEIGHT, Precision
from sim.records import FloatArray

COLD: Final = 2.0
"""Rows whose KV is less than this many times the L2 cache re-read it from there."""
SERVING_SEQUENCES: Final = 8
SERVING_CONTEXT: Final = 512
ITEMS: Final = (1, 8, 32, 128, 512, 2048, 8192, 32768)
HEADS_PER_KV: Final = (1, 2, 4, 8, 16, 32)
HEAD_DIMS: Final = (64, 128, 256, 512)
PER_ITEM_S: Final = 1e-8
GQA: Final[Knots] = {"items": ITEMS, "heads_per_kv": HEADS_PER_KV, "head_dim": HEAD_DIMS}
LATENT: Final[Knots] = {"items": ITEMS, "heads_per_kv": (1, 4, 16, 32, 64, 128)}


def decode_problem(
    timings: Timings, kv: Precision, source: Source, *, latent: bool = False
) -> Problem | None:
    """Return the decode kernels over a KV cache of one format; None without rows."""
    name = "latent_attention" if latent else "decode_attention"
    rows = _cold(_whole(timings.where(operation=name, kv_precision=kv)), kv, source)
    if not len(rows):
        return None
    s, q, c, h, g = (
        rows.number(each)
        for each in ("sequences", "query_tokens", "context_tokens", "heads", "kv_heads")
    )
    g = np.where(np.isnan(g), 1.0, g)
    key, value = rows.number("head_dim"), rows.number("value_dim")
    moved, flop = _kv_bytes(rows, kv), 2.0 * s * q * c * h * (key + value)
    peak = source.gpu.peak_flop_per_s("bf16") or 0.0
    rates = {"flop_per_s": peak, "bytes_per_s": source.bandwidth}

    def seconds(fit: DecodeAttentionFit) -> FloatArray:
        return decode_attention_s(fit, items=s * g, kv_bytes=moved, flop=flop, **rates)

    base = getattr(source.base, name)[kv]

    def make(values: Mapping[str, float]) -> DecodeAttentionFit:
        found = {"flop_efficiency": base.flop_efficiency, **values}
        return DecodeAttentionFit.model_construct(**found)

    coordinates = {"items": s * g, "heads_per_kv": h / g, "head_dim": key, "context_tokens": c}
    serving = (s >= SERVING_SEQUENCES) & (c >= SERVING_CONTEXT)
    return Problem(
        part=f"{name}.{kv}",
        kernels=kernels_of(rows),
        measured_s=rows.number("latency_s"),
        floor_s=np.maximum(moved / source.bandwidth, flop / peak),
        groups=groups_of(h, g, key),
        coordinates=coordinates,
        flop=flop,
        bytes_moved=moved,
        coefficients=_coefficients(base, source, latent=latent),
        form=lambda values: seconds(make(values)),
        make=make,
        base_s=source.base_seconds(base, seconds, coordinates),
        scored=serving if serving.any() else np.ones(len(rows), dtype=bool),
        regimes={"serving: 8 sequences or more, context of 512 or more": serving,
                 "all that are read from memory": np.ones(len(rows), dtype=bool)},
        table=GridTable(LATENT if latent else GQA, coordinates, base.residual),
        note=None if latent else "flop_efficiency is not fitted: one query is never bound by it",
    )  # fmt: skip


def _whole(rows: Timings) -> Timings:
    """Return the kernels that look back all the way."""
    return rows.keep(np.isnan(rows.number("window_tokens")))


def _kv_bytes(rows: Timings, kv: Precision) -> FloatArray:
    """Return the KV that a kernel reads once, B; a latent is key and value at once."""
    g, key, value = (rows.number(name) for name in ("kv_heads", "head_dim", "value_dim"))
    latent = rows.texts("operation") == ("latent_attention",)
    width = key if latent else np.where(np.isnan(g), 1.0, g) * (key + value)
    read = rows.number("sequences") * rows.number("context_tokens") * width
    found: FloatArray = read * BYTES_PER_WEIGHT[kv]
    return found


def _cold(rows: Timings, kv: Precision, source: Source) -> Timings:
    """Return the rows that were not read from the L2 cache; all where none would be left."""
    if not len(rows):
        return rows
    flags = np.array([bool(flag) for flag in rows.table["cold"].to_pylist()], dtype=bool)
    cold = flags | (_kv_bytes(rows, kv) > COLD * source.l2_bytes)
    return rows.keep(cold) if cold.any() else rows


def _coefficients(
    base: DecodeAttentionFit, source: Source, *, latent: bool
) -> tuple[Coefficient, ...]:
    sigma = source.sigma
    found = (
        Coefficient("fixed_s", "time", base.fixed_s, sigma),
        Coefficient("per_item_s", "time", base.per_item_s or PER_ITEM_S, 2 * sigma),
        Coefficient("bandwidth_efficiency", "efficiency", base.bandwidth_efficiency, sigma),
    )
    if not latent:
        return found
    return (*found, Coefficient("flop_efficiency", "efficiency", base.flop_efficiency, sigma))
