"""Sizes, scheduler and habits of the replicas."""

from dataclasses import dataclass, field

from sim.cost import KvShape
from sim.decoding import Plan
from sim.engine.habits import Habits
from sim.engine.schedulers import ChunkedPrefillSettings, SchedulerSettings


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of each replica."""

    replicas: int
    max_sequences: int
    max_batched_tokens: int
    kv: KvShape
    max_context_tokens: int
    scheduler: SchedulerSettings = field(default_factory=ChunkedPrefillSettings)
    habits: Habits | None = None
    """None: no habit at all."""
    swap_s_per_block: float = 0.0
    """Time to move a KV block between GPU and host, where the scheduler swaps."""


def never_runs(limits: Limits, context_tokens: int, plan: Plan) -> str | None:
    """Return why a request could not even run alone on a replica; None where it could."""
    if context_tokens > limits.max_context_tokens:
        return f"prompt and answer are longer than the context of {limits.max_context_tokens:,}"
    if plan.peak_positions > limits.max_batched_tokens:
        return f"one pass needs more positions than the budget of {limits.max_batched_tokens:,}"
    if limits.kv.blocks_for(plan.peak_kv_tokens) > limits.kv.blocks:
        room = limits.kv.tokens_of_one_sequence
        return f"prompt and answer need more KV than the {room:,} tokens of a replica's pool"
    return None
