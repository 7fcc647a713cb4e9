"""From an engine's preset to what the simulated engine and the cost model take."""

from typing import Final

from sim.engine import Habits
from sim.engine.schedulers import (
    ChunkedPrefillSettings,
    DecodeFirstSettings,
    PrefillFirstSettings,
    SchedulerSettings,
    StaticBatchingSettings,
)
from sim.hardware import EngineProfile, FittedProfile, GpuProfile, load_fitted

SCHEDULERS: Final[dict[str, type[SchedulerSettings]]] = {
    "chunked_prefill": ChunkedPrefillSettings,
    "prefill_first": PrefillFirstSettings,
    "decode_first": DecodeFirstSettings,
    "static_batching": StaticBatchingSettings,
}


def scheduler_of(asked: SchedulerSettings | None, engine: EngineProfile) -> SchedulerSettings:
    """Return the scheduler that the scenario names, or the engine's own."""
    return SCHEDULERS[engine.scheduler]() if asked is None else asked


def habits_of(engine: EngineProfile) -> Habits | None:
    """Return the engine's habits, or None where it has none: the engine is fastest without."""
    habits = Habits(
        ingress_s=engine.ttft_offset_s,
        pick_up_passes=engine.pick_up_passes,
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


def kernels_of(gpu: GpuProfile, engine: EngineProfile) -> FittedProfile:
    """Return the kernel layer for a GPU and an engine.

    One that was fitted for another engine, or for none, gets the engine's own small kernels.
    """
    fitted = load_fitted(gpu, engine.requested)
    own = engine.small_kernels_s_per_layer
    if fitted.engine == engine.requested or own is None:
        return fitted
    note = f"small kernels as of {engine.name}: {own * 1e6:g} us per layer"
    if fitted.note:
        note = f"{fitted.note}; {note}"
    return fitted.model_copy(update={"layer_overhead_s": own, "note": note})
