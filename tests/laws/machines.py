"""The same machine, slower, faster, or without any loss."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from sim.cost import ForwardPass
from sim.hardware import (
    CollectiveFit,
    Collectives,
    DecodeAttentionFit,
    ExpertsFit,
    FittedProfile,
    GemmFit,
    PrefillAttentionFit,
)
from sim.precision import PRECISIONS

T = TypeVar("T", bound=BaseModel)
RATES = (
    "memory_bandwidth_bytes_per_s",
    "bf16_dense_flop_per_s",
    "fp16_dense_flop_per_s",
    "fp8_dense_flop_per_s",
    "int8_dense_flop_per_s",
    "fp4_dense_flop_per_s",
)
LINKS = ("link_one_way_bytes_per_s", "network_one_way_bytes_per_s")
HARD = 1000.0
"""Norm at which a rounded roofline is the hard one to 0.1 %."""


def slower(cost: ForwardPass, factor: float) -> ForwardPass:
    """Return the cost model with every rate divided and every fixed time multiplied."""
    slow = cost
    for name in (*RATES, *LINKS):
        slow = faster(slow, name, 1 / factor)
    fitted, engine = _stretch(cost.fitted, factor), _stretch(cost.engine, factor)
    return ForwardPass(
        *(cost.model, slow.gpu, fitted, engine, cost.deployment), reaches=cost.reaches
    )


def faster(cost: ForwardPass, figure: str, factor: float) -> ForwardPass:
    """Return the cost model on a GPU of which one rate is `factor` times as high."""
    rate = getattr(cost.gpu, figure)
    gpu = cost.gpu if rate is None else cost.gpu.model_copy(update={figure: rate.scaled(factor)})
    return ForwardPass(
        *(cost.model, gpu, cost.fitted, cost.engine, cost.deployment), reaches=cost.reaches
    )


def lossless(cost: ForwardPass) -> ForwardPass:
    """Return the cost model on peaks alone: all of the bandwidth and FLOP/s, no fixed times."""
    gemm = GemmFit(fixed_s=0, flop_efficiency=1, bandwidth_efficiency=1, p=HARD)
    decode = DecodeAttentionFit(fixed_s=0, bandwidth_efficiency=1, flop_efficiency=1)
    prefill = PrefillAttentionFit(fixed_s=0, flop_efficiency=1)
    experts = ExpertsFit(fixed_s=0, bandwidth_efficiency=1, flop_efficiency=1)
    link = CollectiveFit(fixed_s=0, per_extra_rank_s=0, bandwidth_efficiency=1)
    links: dict[str, Any] = dict.fromkeys(Collectives.model_fields, link)
    fitted = FittedProfile(
        gpu=cost.gpu.name,
        engine="none",
        origin="assumed",
        source="peaks alone",
        as_of="undated",
        gemm=dict.fromkeys(PRECISIONS, gemm),
        experts=dict.fromkeys(PRECISIONS, experts),
        decode_attention=dict.fromkeys(PRECISIONS, decode),
        latent_attention=dict.fromkeys(PRECISIONS, decode),
        recurrent=decode,
        prefill_attention=dict.fromkeys(PRECISIONS, prefill),
        latent_prefill=dict.fromkeys(PRECISIONS, prefill),
        network=Collectives(**links),
        layer_overhead_s=0,
        **links,
    )
    engine = _stretch(cost.engine, 0.0)
    return ForwardPass(cost.model, cost.gpu, fitted, engine, cost.deployment)


def _stretch(profile: T, factor: float) -> T:
    """Multiply every time in a profile, however deep."""
    fields = type(profile).model_fields
    return profile.model_copy(
        update={name: _longer(name, getattr(profile, name), factor) for name in fields}
    )


def _longer(name: str, value: Any, factor: float) -> Any:
    if isinstance(value, BaseModel):
        return _stretch(value, factor)
    if value is None:
        return None
    if isinstance(value, Mapping):
        return {key: _longer("", part, factor) for key, part in value.items()}
    return value * factor if name.endswith("_s") or "_s_per_" in name else value
