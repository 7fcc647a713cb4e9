"""The same machine, slower or faster."""

from typing import TypeVar

from pydantic import BaseModel

from sim.cost import ForwardPass

T = TypeVar("T", bound=BaseModel)


def slower(cost: ForwardPass, factor: float) -> ForwardPass:
    """Return the cost model with every rate divided and every fixed time multiplied."""
    fitted = {
        "layer_overhead_s": cost.fitted.layer_overhead_s * factor,
        "gemm": {key: stretch(fit, factor) for key, fit in cost.fitted.gemm.items()},
        "decode_attention": {
            key: stretch(fit, factor) for key, fit in cost.fitted.decode_attention.items()
        },
        "prefill_attention": stretch(cost.fitted.prefill_attention, factor),
        "all_reduce": stretch(cost.fitted.all_reduce, factor),
    }
    gpu = {
        name: getattr(cost.gpu, name).scaled(1 / factor)
        for name in type(cost.gpu).model_fields
        if name.endswith("per_s") and getattr(cost.gpu, name) is not None
    }
    return ForwardPass(
        cost.model,
        cost.gpu.model_copy(update=gpu),
        cost.fitted.model_copy(update=fitted),
        stretch(cost.engine, factor),
        cost.deployment,
    )


def stretch(profile: T, factor: float) -> T:
    times = [
        name for name in type(profile).model_fields if name.endswith("_s") or "_s_per_" in name
    ]
    return profile.model_copy(update={name: getattr(profile, name) * factor for name in times})
