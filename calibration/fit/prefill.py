"""Prefill attention, grouped and latent: a smooth roofline and a table over the chunks."""

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
from sim.cost.forms import prefill_attention_s
from sim.hardware import PrefillAttentionFit
from sim.precision import Precision
from sim.records import FloatArray

QUERIES: Final = (1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 16384)
LONG: Final = 512
LONG_PROMPTS: Final = "prompts of 512 tokens or more"
LATENT_PENALTY: Final = Penalty(pull=0.3)
"""Rows are many to a knot, but few at its corners."""
GQA_PENALTY: Final = Penalty(
    pull=0.03,
    smooth={
        "query_tokens": Smoothness(0.3),
        "items": Smoothness(0.3),
        "heads_per_kv": Smoothness(1.0, order=1),
        "head_dim": Smoothness(0.1, order=1),
    },
)
"""Head layouts are few: what one lacks it has from its neighbours."""
_LEFT_OUT: Final = (
    "not used are those that look back over a window, have head layouts that no model has, or run"
    " on other kernels than most"
)
ITEMS: Final = (1, 4, 16, 64, 256, 1024, 8192)
HEADS_PER_KV: Final = (1, 2, 4, 8, 16)
GQA: Final[Knots] = {
    "query_tokens": QUERIES,
    "items": ITEMS,
    "heads_per_kv": HEADS_PER_KV,
    "head_dim": HEAD_DIMS,
}
LATENT: Final[Knots] = {
    "query_tokens": (1, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
    "items": (1, 4, 16, 64, 256, 1024, 4096, 16384),
}


def prefill_problem(
    timings: Timings, kv: Precision, source: Source, *, latent: bool = False
) -> Problem | None:
    """Return the prefill kernels that write a KV cache of one format; None without rows.

    Over an FP8 cache those that also multiply in FP8 are taken where there are any.
    """
    name = "latent_prefill" if latent else "prefill_attention"
    rows = whole(given := timings.where(operation=name, kv_precision=kv))
    rows = rows if latent or not len(rows) else usual_layouts(rows)
    computed: Precision = "fp8" if kv == "fp8" and "fp8" in rows.texts("precision") else "bf16"
    peak = source.gpu.peak_flop_per_s(computed)
    rows = rows.where(precision=computed)
    if peak is None or not len(rows):
        return None
    rows = rows if latent else usual_kernels(rows)
    shape = AttentionRows.of(rows, latent=latent)
    moved, flop = shape.kv_bytes(kv) + shape.query_bytes, shape.flop
    rates = {"flop_per_s": peak, "bytes_per_s": source.bandwidth}
    base = _completed(getattr(source.base, name)[kv], source, kv, latent=latent)

    def seconds(fit: PrefillAttentionFit, some: Rows = ALL) -> FloatArray:
        found = prefill_attention_s(fit, flop=flop[some], bytes_moved=moved[some], **rates)
        return np.asarray(found)

    def make(values: Mapping[str, float]) -> PrefillAttentionFit:
        return construct(PrefillAttentionFit, values, computed=computed)

    items = shape.sequences * shape.heads
    coordinates = {"query_tokens": shape.queries, "items": items, **shape.layout}
    return Problem(
        part=f"{name}.{kv}",
        kernels=kernels_of(rows),
        measured_s=rows.number("latency_s"),
        floor_s=np.maximum(moved / source.bandwidth, flop / peak),
        groups=shape.groups,
        coordinates=coordinates,
        flop=flop,
        bytes_moved=moved,
        coefficients=_coefficients(base, source),
        form=lambda values, some: seconds(make(values), some),
        make=make,
        base_s=source.base_seconds(base, seconds, coordinates),
        scored=np.ones(len(rows), dtype=bool),
        regimes={LONG_PROMPTS: shape.queries >= LONG, "shorter": shape.queries < LONG},
        table=_table(coordinates, base, latent=latent),
        note=f"products in {computed}",
        left_out=None if len(rows) == len(given) else f"of {len(given)}; {_LEFT_OUT}",
        certain_floor_s=flop / peak,  # keys and values were written just before
    )


def _table(
    coordinates: Mapping[str, FloatArray], base: PrefillAttentionFit, *, latent: bool
) -> GridTable:
    if latent:
        return GridTable(LATENT, coordinates, base.residual, LATENT_PENALTY)
    return GridTable(GQA, coordinates, base.residual, GQA_PENALTY)


def _completed(
    base: PrefillAttentionFit, source: Source, kv: Precision, *, latent: bool
) -> PrefillAttentionFit:
    """Return the base with a bandwidth of its own."""
    if base.bandwidth_efficiency is not None:
        return base
    decode = source.base.latent_attention if latent else source.base.decode_attention
    return base.model_copy(update={"bandwidth_efficiency": decode[kv].bandwidth_efficiency})


def _coefficients(base: PrefillAttentionFit, source: Source) -> tuple[Coefficient, ...]:
    sigma = source.sigma
    return (
        Coefficient("fixed_s", "time", base.fixed_s, sigma),
        Coefficient("flop_efficiency", "efficiency", base.flop_efficiency, sigma),
        Coefficient(
            "bandwidth_efficiency", "efficiency", base.bandwidth_efficiency or 0.5, 2 * sigma
        ),
        Coefficient("p", "norm", base.p or 1.5, sigma),
    )
