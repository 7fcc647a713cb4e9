"""The same machine, slower, faster, or without any loss."""

from typing import TypeVar

from pydantic import BaseModel

from sim.cost import ForwardPass
from sim.hardware import (
    AllReduceFit,
    DecodeAttentionFit,
    FittedProfile,
    GemmFit,
    PrefillAttentionFit,
)

T = TypeVar("T", bound=BaseModel)
RATES = ("memory_bandwidth_bytes_per_s", "bf16_dense_flop_per_s", "fp8_dense_flop_per_s")
LINK = "link_one_way_bytes_per_s"
HARD = 1000.0
"""Norm at which a rounded roofline is the hard one to 0.1 %."""


def slower(cost: ForwardPass, factor: float) -> ForwardPass:
    """Return the cost model with every rate divided and every fixed time multiplied."""
    fitted = {
        "layer_overhead_s": cost.fitted.layer_overhead_s * factor,
        "gemm": {key: _stretch(fit, factor) for key, fit in cost.fitted.gemm.items()},
        "decode_attention": {
            key: _stretch(fit, factor) for key, fit in cost.fitted.decode_attention.items()
        },
        "prefill_attention": _stretch(cost.fitted.prefill_attention, factor),
        "all_reduce": _stretch(cost.fitted.all_reduce, factor),
    }
    slow = cost
    for name in (*RATES, LINK):
        slow = faster(slow, name, 1 / factor)
    return ForwardPass(
        cost.model,
        slow.gpu,
        cost.fitted.model_copy(update=fitted),
        _stretch(cost.engine, factor),
        cost.deployment,
    )


def faster(cost: ForwardPass, figure: str, factor: float) -> ForwardPass:
    """Return the cost model on a GPU of which one rate is `factor` times as high."""
    rate = getattr(cost.gpu, figure)
    gpu = cost.gpu if rate is None else cost.gpu.model_copy(update={figure: rate.scaled(factor)})
    return ForwardPass(cost.model, gpu, cost.fitted, cost.engine, cost.deployment)


def lossless(cost: ForwardPass) -> ForwardPass:
    """Return the cost model on peaks alone: all of the bandwidth and FLOP/s, no fixed times."""
    gemm = GemmFit(fixed_s=0, flop_efficiency=1, bandwidth_efficiency=1, p=HARD)
    decode = DecodeAttentionFit(fixed_s=0, bandwidth_efficiency=1, flop_efficiency=1)
    link = AllReduceFit(fixed_s=0, per_extra_rank_s=0, bandwidth_efficiency=1)
    fitted = FittedProfile(
        gpu=cost.gpu.name,
        engine="none",
        origin="assumed",
        source="peaks alone",
        as_of="undated",
        gemm={"bf16": gemm, "fp8": gemm},
        decode_attention={"bf16": decode, "fp8": decode},
        prefill_attention=PrefillAttentionFit(fixed_s=0, flop_efficiency=1),
        all_reduce=link,
        layer_overhead_s=0,
    )
    engine = _stretch(cost.engine, 0.0)
    return ForwardPass(cost.model, cost.gpu, fitted, engine, cost.deployment)


def _stretch(profile: T, factor: float) -> T:
    times = [
        name for name in type(profile).model_fields if name.endswith("_s") or "_s_per_" in name
    ]
    return profile.model_copy(update={name: getattr(profile, name) * factor for name in times})
