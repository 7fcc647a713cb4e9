"""Decode attention, grouped and latent: a fixed time, a time per item, and the KV read."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from calibration.fit.grid import GridTable, Knots
from calibration.fit.problem import Problem, groups_of
from calibration.fit.solve import Coefficient
from calibration.fit.source import construct, kernels_of, Source, usual_kernels
from calibration.timings import Timings
from sim.cost.forms import decode_attention_s
from sim.hardware import DecodeAttentionFit
from sim.precision import BYTES_PER_WEIGHT, Precision
from sim.records import FloatArray

COLD: Final = 2.0
"""Rows whose KV is less than this many times the L2 cache re-read it from there."""
SERVING_SEQUENCES: Final = 8
SERVING_CONTEXT: Final = 512
SOME: Final = 0.01
MOST_HEADS_PER_KV: Final = 16
"""No public model has more; beyond, kernels fall back on others (20 times slower on some)."""
MOST_SEQUENCES: Final = 1024
WIDEST: Final = 256
ITEMS: Final = (1, 8, 32, 128, 512, 2048, 8192)
HEADS_PER_KV: Final = (1, 2, 4, 8, 16)
HEAD_DIMS: Final = (64, 128, 256)
PER_ITEM_S: Final = 1e-8
GQA: Final[Knots] = {"items": ITEMS, "heads_per_kv": HEADS_PER_KV, "head_dim": HEAD_DIMS}
LATENT: Final[Knots] = {"items": ITEMS, "heads_per_kv": (1, 4, 16, 32, 64, 128)}


def decode_problem(
    timings: Timings, kv: Precision, source: Source, *, latent: bool = False
) -> Problem | None:
    """Return the decode kernels over a KV cache of one format; None without rows."""
    name = "latent_attention" if latent else "decode_attention"
    rows = _whole(timings.where(operation=name, kv_precision=kv))
    rows = _cold(rows if latent else _usual(rows), kv, source)
    if not len(rows):
        return None
    s, q, c, h, g = (
        rows.number(each)
        for each in ("sequences", "query_tokens", "context_tokens", "heads", "kv_heads")
    )
    g = np.where(np.isnan(g), 1.0, g)
    key, value = rows.number("head_dim"), rows.number("value_dim")
    moved, flop = _kv_bytes(rows, kv), 2.0 * s * q * c * h * (key + value)
    computed = _computed(rows.number("latency_s"), flop, kv, source)
    peak = source.gpu.peak_flop_per_s(computed) or 0.0
    rates = {"flop_per_s": peak, "bytes_per_s": source.bandwidth}

    def seconds(fit: DecodeAttentionFit) -> FloatArray:
        return np.asarray(decode_attention_s(fit, items=s * g, kv_bytes=moved, flop=flop, **rates))

    base = getattr(source.base, name)[kv]

    def make(values: Mapping[str, float]) -> DecodeAttentionFit:
        found = {"flop_efficiency": base.flop_efficiency, "computed": computed, **values}
        return construct(DecodeAttentionFit, found)

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


def _computed(
    measured_s: FloatArray, flop: FloatArray, kv: Precision, source: Source
) -> Precision:
    """Return the format that the kernels multiply in: FP8 where 16 bits could not be so quick."""
    peak = source.gpu.peak_flop_per_s("bf16") or 0.0
    too_fast = (measured_s < flop / peak).mean() > SOME
    return kv if too_fast and source.gpu.peak_flop_per_s(kv) is not None else "bf16"


def _usual(rows: Timings) -> Timings:
    """Return the layouts that models have, on the kernels that engines use for them."""
    if not len(rows):
        return rows
    kept = rows.number("heads") <= MOST_HEADS_PER_KV * rows.number("kv_heads")
    kept &= (rows.number("sequences") <= MOST_SEQUENCES) & (rows.number("head_dim") <= WIDEST)
    return usual_kernels(rows.keep(kept))


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
