"""Sizes, scheduler and habits of the replicas."""

from dataclasses import dataclass

from sim.cost import KvShape
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
    scheduler: SchedulerSettings = ChunkedPrefillSettings()
    habits: Habits | None = None
    """None: no habit at all."""
    swap_s_per_block: float = 0.0
    """Time to move a KV block between GPU and host, where the scheduler swaps."""
