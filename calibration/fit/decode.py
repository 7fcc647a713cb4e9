"""Decode attention, grouped and latent: a fixed time, a time per item, and the KV read."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from calibration.fit.attention_rows import HEAD_DIMS, AttentionRows, usual_layouts, whole
from calibration.fit.grid import GridTable, Knots, Penalty
from calibration.fit.problem import Problem
from calibration.fit.smooth import Smoothness
from calibration.fit.solve import ALL, Coefficient, Rows
from calibration.fit.source import Source, construct, kernels_of, usual_kernels
from calibration.timings import Timings
from sim.cost.forms import decode_attention_s
from sim.hardware import DecodeAttentionFit
from sim.precision import Precision
from sim.records import FloatArray
from sim.units import MIB

COLD: Final = 2.0
"""Rows whose KV is less than this many times the L2 cache re-read it from there."""
SERVING_SEQUENCES: Final = 8
SERVING_CONTEXT: Final = 512
SERVING: Final = "serving: 8 sequences or more, context of 512 or more"
SOME: Final = 0.01
MOST_SEQUENCES: Final = 1024
ITEMS: Final = (1, 8, 32, 128, 512, 2048, 8192)
HEADS_PER_KV: Final = (1, 2, 4, 8, 16)
PER_ITEM_S: Final = 1e-8
UNTOLD: Final = 0.02
"""How far the bandwidth of the memory may move where every row was read from the L2 cache."""
GQA_PENALTY: Final = Penalty(
    pull=0.03,
    smooth={
        "items": Smoothness(0.1),
        "heads_per_kv": Smoothness(0.1, order=1),
        "head_dim": Smoothness(0.1, order=1),
    },
    robust=0.1,
)
LATENT_PENALTY: Final = Penalty(
    pull=0.1,
    smooth={"items": Smoothness(0.03), "heads_per_kv": Smoothness(0.03, order=1)},
    robust=0.2,
)
"""Chosen by cross-validation on shapes that neither split holds out; the first after a look at the
held-out errors of the first split."""
GQA: Final[Knots] = {"items": ITEMS, "heads_per_kv": HEADS_PER_KV, "head_dim": HEAD_DIMS}
LATENT: Final[Knots] = {"items": ITEMS, "heads_per_kv": (1, 4, 16, 32, 64, 128)}


def decode_problem(
    timings: Timings, kv: Precision, source: Source, *, latent: bool = False
) -> Problem | None:
    """Return the decode kernels over a KV cache of one format; None without rows."""
    name = "latent_attention" if latent else "decode_attention"
    given = timings.where(operation=name, kv_precision=kv)
    rows = whole(given)
    rows, cold = _cold(rows if latent else _usual(rows), kv, source, latent=latent)
    if not len(rows):
        return None
    shape = AttentionRows.of(rows, latent=latent)
    moved, flop, items = shape.kv_bytes(kv), shape.flop, shape.sequences * shape.kv_heads
    computed = _computed(rows.number("latency_s"), flop, kv, source)
    peak = source.gpu.peak_flop_per_s(computed) or 0.0
    rates = {"flop_per_s": peak, "bytes_per_s": source.bandwidth}

    def seconds(fit: DecodeAttentionFit, some: Rows = ALL) -> FloatArray:
        read = {"kv_bytes": moved[some], "flop": flop[some]}
        found = decode_attention_s(fit, items=items[some], **read, **rates)  # type: ignore[arg-type]
        return np.asarray(found)

    base = getattr(source.base, name)[kv]

    def make(values: Mapping[str, float]) -> DecodeAttentionFit:
        found = {"flop_efficiency": base.flop_efficiency, "computed": computed, **values}
        return construct(DecodeAttentionFit, found)

    coordinates = {"items": items, **shape.layout, "context_tokens": shape.context}
    serving = (shape.sequences >= SERVING_SEQUENCES) & (shape.context >= SERVING_CONTEXT)
    every = np.ones(len(rows), dtype=bool)
    return Problem(
        part=f"{name}.{kv}",
        kernels=kernels_of(rows),
        measured_s=rows.number("latency_s"),
        floor_s=np.maximum(moved / source.bandwidth, flop / peak),
        groups=shape.groups,
        coordinates=coordinates,
        flop=flop,
        bytes_moved=moved,
        coefficients=_coefficients(base, source, latent=latent, cold=cold),
        form=lambda values, some: seconds(make(values), some),
        make=make,
        base_s=source.base_seconds(base, seconds, coordinates),
        scored=serving if serving.any() else every,
        regimes={SERVING: serving, "all that are read from memory": every},
        table=_table(coordinates, base, latent=latent),
        note=None if latent else "flop_efficiency is not fitted: one query is never bound by it",
        left_out=None if len(rows) == len(given) else _left_out(len(given), source),
    )


def _table(
    coordinates: Mapping[str, FloatArray], base: DecodeAttentionFit, *, latent: bool
) -> GridTable:
    if latent:
        return GridTable(LATENT, coordinates, base.residual, LATENT_PENALTY)
    return GridTable(GQA, coordinates, base.residual, GQA_PENALTY)


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
    rows = usual_layouts(rows)
    return usual_kernels(rows.keep(rows.number("sequences") <= MOST_SEQUENCES))


def _left_out(given: int, source: Source) -> str:
    return (
        f"of {given}; not used are those that look back over a window, have head layouts that no"
        f" model has, or read less than {COLD * source.l2_bytes / MIB:.0f} MiB of KV from the L2"
    )


def _cold(rows: Timings, kv: Precision, source: Source, *, latent: bool) -> tuple[Timings, bool]:
    """Return the rows that were not read from the L2 cache, and True; all where none are left."""
    if not len(rows):
        return rows, True
    flags = np.array([bool(flag) for flag in rows.table["cold"].to_pylist()], dtype=bool)
    cold = flags | (AttentionRows.of(rows, latent=latent).kv_bytes(kv) > COLD * source.l2_bytes)
    return (rows.keep(cold), True) if cold.any() else (rows, False)


def _coefficients(
    base: DecodeAttentionFit, source: Source, *, latent: bool, cold: bool
) -> tuple[Coefficient, ...]:
    sigma = source.sigma
    memory = sigma if cold else UNTOLD
    found = (
        Coefficient("fixed_s", "time", base.fixed_s, sigma),
        Coefficient("per_item_s", "time", base.per_item_s or PER_ITEM_S, 2 * sigma),
        Coefficient("bandwidth_efficiency", "efficiency", base.bandwidth_efficiency, memory),
    )
    if not latent:
        return found
    return (*found, Coefficient("flop_efficiency", "efficiency", base.flop_efficiency, sigma))
