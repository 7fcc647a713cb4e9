"""The smooth forms of kernels: counts in, seconds out. Calibration fits the very same functions.

All take one figure or arrays, and leave out the tables of residuals (see `residuals`).
"""

import numpy as np

from sim.cost.roofline import Figures, smooth_roofline_s
from sim.hardware import DecodeAttentionFit, ExpertsFit, GemmFit, PrefillAttentionFit

OUTPUT_BYTES = 2.0
"""Products and attention write 16 bits."""


def gemm_s(
    fit: GemmFit,
    *,
    tokens: Figures,
    inner: Figures,
    outer: Figures,
    weight_bytes: float,
    input_bytes: float,
    flop_per_s: float,
    bytes_per_s: float,
    served: bool = True,
) -> Figures:
    """Return the time of a product [tokens, inner] x [inner, outer], s.

    `flop_per_s` and `bytes_per_s` are the peaks. `served`: inside a captured pass, where the
    fixed time is `served_fixed_s`; else alone, as it is timed.
    """
    weights = inner * outer
    fixed: Figures = fit.fixed_s + fit.per_inner_s * inner
    if served and fit.served_fixed_s is not None:
        fixed = fit.served_fixed_s
    core = smooth_roofline_s(
        flop=2.0 * tokens * weights,
        bytes_moved=weights * weight_bytes + tokens * (inner * input_bytes + outer * OUTPUT_BYTES),
        flop_per_s=fit.flop_efficiency * flop_per_s,
        bytes_per_s=fit.bandwidth_efficiency * bytes_per_s,
        fixed_s=fixed,
        p=fit.p,
    )
    return core + quantise_s(
        fit, tokens=tokens, inner=inner, input_bytes=input_bytes, bytes_per_s=bytes_per_s
    )


def quantise_s(
    fit: GemmFit,
    *,
    tokens: Figures,
    inner: Figures,
    input_bytes: float,
    bytes_per_s: float,
) -> Figures:
    """Return what grows with the activations that a kernel quantises itself, s.

    They are read in 16 bits and written in the format of the product.
    """
    seconds: Figures = tokens * fit.per_token_s
    if fit.quantise_bandwidth_efficiency is not None:
        moved = tokens * inner * (OUTPUT_BYTES + input_bytes)
        seconds = seconds + moved / (fit.quantise_bandwidth_efficiency * bytes_per_s)
    return seconds


def experts_s(
    fit: ExpertsFit,
    *,
    flop: Figures,
    bytes_moved: Figures,
    flop_per_s: float,
    bytes_per_s: float,
) -> Figures:
    """Return the time of the grouped products of routed experts on one rank, s."""
    return smooth_roofline_s(
        flop=flop,
        bytes_moved=bytes_moved,
        flop_per_s=fit.flop_efficiency * flop_per_s,
        bytes_per_s=fit.bandwidth_efficiency * bytes_per_s,
        fixed_s=fit.fixed_s,
        p=fit.p,
    )


def decode_attention_s(
    fit: DecodeAttentionFit,
    *,
    items: Figures,
    kv_bytes: Figures,
    flop: Figures,
    flop_per_s: float,
    bytes_per_s: float,
) -> Figures:
    """Return the time of one decode kernel, s: the longer of reading and multiplying."""
    memory_s = kv_bytes / (fit.bandwidth_efficiency * bytes_per_s)
    compute_s = flop / (fit.flop_efficiency * flop_per_s)
    seconds: Figures = fit.fixed_s + fit.per_item_s * items + np.maximum(memory_s, compute_s)
    return seconds


def prefill_attention_s(
    fit: PrefillAttentionFit,
    *,
    flop: Figures,
    bytes_moved: Figures,
    flop_per_s: float,
    bytes_per_s: float,
) -> Figures:
    """Return the time of one prefill kernel, s; `bytes_per_s` is the peak.

    A fit without a bandwidth of its own must be given one (see `PrefillAttentionFit`).
    """
    memory_s = bytes_moved / ((fit.bandwidth_efficiency or 1.0) * bytes_per_s)
    compute_s = flop / (fit.flop_efficiency * flop_per_s)
    if fit.p is None:
        hard: Figures = fit.fixed_s + np.maximum(memory_s, compute_s)
        return hard
    longer, shorter = np.maximum(memory_s, compute_s), np.minimum(memory_s, compute_s)
    smooth: Figures = fit.fixed_s + longer * (1.0 + (shorter / longer) ** fit.p) ** (1.0 / fit.p)
    return smooth
