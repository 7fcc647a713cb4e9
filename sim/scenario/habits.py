"""From an engine's preset to what the simulated engine and the cost model take."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sim.cost.collectives import quicker_all_reduce
from sim.engine import Habits
from sim.engine.schedulers import (
    ChunkedPrefillSettings,
    DecodeFirstSettings,
    PrefillFirstSettings,
    SchedulerSettings,
    StaticBatchingSettings,
)
from sim.hardware import (
    EngineProfile,
    FittedProfile,
    GemmFit,
    GpuProfile,
    load_fitted,
)
from sim.hardware.overlay import load_over
from sim.precision import Precision
from sim.scenario.schema import Scenario

SCHEDULERS: Final[dict[str, type[SchedulerSettings]]] = {
    "chunked_prefill": ChunkedPrefillSettings,
    "prefill_first": PrefillFirstSettings,
    "decode_first": DecodeFirstSettings,
    "static_batching": StaticBatchingSettings,
}


def scheduler_of(scenario: Scenario, engine: EngineProfile) -> SchedulerSettings:
    """Return the scheduler that the scenario names, or the engine's own."""
    asked = scenario.scheduler
    if asked is None:
        return SCHEDULERS[engine.scheduler]()
    return asked.for_classes(scenario.workload.class_names) if asked.class_weights else asked


def habits_of(engine: EngineProfile) -> Habits | None:
    """Return the engine's habits, or None where it has none: the engine is fastest without."""
    habits = Habits(
        ingress_s=engine.ttft_offset_s,
        ingress_s_per_token=engine.tokenise_s_per_token,
        pick_up_passes=engine.pick_up_passes,
        pick_up_every_passes=engine.pick_up_every_passes,
        hold_passes=engine.hold_passes,
        hold_token_share=engine.hold_token_share,
        whole_answer=engine.kv_reserve == "whole_answer",
        stream_interval_tokens=engine.stream_interval_tokens,
        stream_first_token=engine.stream_first_token,
        front_end_s_per_chunk=engine.front_end_s_per_token,
    )
    plain = Habits(
        hold_token_share=habits.hold_token_share, stream_first_token=habits.stream_first_token
    )
    return None if habits == plain else habits


QUANTISED: Final = frozenset({"fp8", "fp8_block", "int8", "nvfp4"})
"""Formats of products whose activations are quantised first."""


def kernels_of(
    gpu: GpuProfile, engine: EngineProfile, own: str | Path | None = None
) -> FittedProfile:
    """Return the kernel layer for a GPU and an engine, with what the engine adds to kernels.

    `own` names a fit to lay over the shipped one. Small kernels are the engine's: tables of
    kernels do not hold them. So it is with the kernel that quantises activations, where it is one
    of its own: they are added to either fit. What the engine takes of another's kernels replaces
    shipped ones alone.
    """
    shipped = load_fitted(gpu, engine.requested)
    fitted = shipped if own is None else load_over(shipped, own)
    mine = frozenset[str]() if fitted.own is None else fitted.own.parts
    small_s, each_s = engine.small_kernels_s_per_layer, engine.quantise_s_per_product
    changed: dict[str, object] = {}
    errors = dict(fitted.error)
    if engine.error and fitted.engine == engine.requested:
        errors |= dict(engine.error)
    notes = [fitted.note] if fitted.note else []
    if small_s is not None and "layer_overhead" not in mine:
        changed["layer_overhead_s"] = small_s
        changed["borrowed"] = fitted.borrowed - {"layer_overhead"}  # the engine's, not universal
        notes.append(f"small kernels as of {engine.name}: {small_s * 1e6:g} us per layer")
    if engine.all_reduce_of is not None and "all_reduce" not in mine:
        other = load_fitted(gpu, engine.all_reduce_of)
        if other.engine == engine.all_reduce_of:
            link = gpu.link_one_way_bytes_per_s.value
            changed["all_reduce"] = quicker_all_reduce(
                fitted.all_reduce, other.all_reduce, link_bytes_per_s=link
            )
            notes.append(f"all-reduce of {other.engine} where it is quicker")
    others = {
        key: other
        for key, other in _experts_of_others(gpu, engine).items()
        if f"experts.{key}" not in mine
    }
    if others:
        found = {key: other.experts[key] for key, other in others.items()}
        changed["experts"] = {**fitted.experts, **found}
        for name, other in ((f"experts.{key}", other) for key, other in others.items()):
            errors[name] = other.error.get(name)
        notes += [f"experts in {_WORDS[key]} of {other.engine}" for key, other in others.items()]
    if each_s:
        changed["gemm"] = _all_quantising(fitted.gemm, each_s)
        notes.append(f"quantising as of {engine.name}: {each_s * 1e6:g} us per product")
    if errors != fitted.error:
        changed["error"] = errors
    if not changed:
        return fitted
    return fitted.model_copy(update={**changed, "note": "; ".join(notes) or None})


_WORDS: Final[dict[Precision, str]] = {"mxfp4": "MXFP4", "fp8_block": "blocks of FP8"}


def _experts_of_others(gpu: GpuProfile, engine: EngineProfile) -> dict[Precision, FittedProfile]:
    """Return the fits of other engines from which this one has kernels of experts, by format."""
    asked: tuple[tuple[Precision, str | None], ...] = (
        ("mxfp4", engine.mxfp4_experts_of),
        ("fp8_block", engine.fp8_block_experts_of),
    )
    named = {key: load_fitted(gpu, name) for key, name in asked if name is not None}
    return {
        key: other
        for key, other in named.items()
        if other.engine == dict(asked)[key] and f"experts.{key}" not in other.borrowed
    }


def _all_quantising(fits: Mapping[Precision, GemmFit], each_s: float) -> dict[Precision, GemmFit]:
    return {
        name: _quantising(fit, each_s) if name in QUANTISED else fit for name, fit in fits.items()
    }


def _quantising(fit: GemmFit, each_s: float) -> GemmFit:
    """Return a product that in a pass also takes `each_s` to quantise its activations."""
    served_s = fit.fixed_s if fit.served_fixed_s is None else fit.served_fixed_s
    return fit.model_copy(update={"served_fixed_s": served_s + each_s})
