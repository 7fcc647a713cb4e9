"""Sizes, scheduler and habits of the replicas, and how their sequences are split."""

from dataclasses import dataclass, field, replace

from sim.cost import KvShape
from sim.decoding import Plan
from sim.engine.habits import Habits
from sim.engine.schedulers import ChunkedPrefillSettings, SchedulerSettings
from sim.routers import BaseRouter, RoundRobin

_IN_TURN = RoundRobin.model_construct()  # nothing to validate, at import


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
    router: BaseRouter = _IN_TURN
    ranks: int = 1
    """Attention-data ranks of a replica, each with its own queue and KV pool."""
    microbatches: int = 1
    """Microbatches in the pipeline of a replica, each with its own queue and share of the KV."""
    prefix_cache: bool = False
    """Keep the KV of prompts for requests that begin alike, where the traffic says which do."""

    @property
    def lanes(self) -> int:
        """Queues of a replica."""
        return self.ranks * self.microbatches

    @property
    def lane(self) -> "Limits":
        """Sizes of each lane: places and KV are shared out evenly, the token budget over ranks."""
        return replace(
            self,
            max_sequences=-(-self.max_sequences // self.lanes),
            max_batched_tokens=self.max_batched_tokens // self.ranks,
            kv=replace(self.kv, blocks=self.kv.blocks // self.lanes),
        )


def never_runs(limits: Limits, context_tokens: int, plan: Plan) -> str | None:
    """Return why a request could not even run alone in its lane; None where it could."""
    if context_tokens > limits.max_context_tokens:
        return f"prompt and answer are longer than the context of {limits.max_context_tokens:,}"
    if plan.peak_positions > limits.max_batched_tokens:
        return f"one pass needs more positions than the budget of {limits.max_batched_tokens:,}"
    if limits.kv.blocks_for(plan.peak_kv_tokens) > limits.kv.blocks:
        room = limits.kv.tokens_of_one_sequence
        whose = "a replica's pool" if limits.lanes == 1 else "the pool of a rank or microbatch"
        return f"prompt and answer need more KV than the {room:,} tokens of {whose}"
    return None
