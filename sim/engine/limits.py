"""Sizes of replicas, and how their sequences are split."""

from dataclasses import dataclass, replace

from sim.cost import KvShape
from sim.routers import BaseRouter, RoundRobin

_IN_TURN = RoundRobin()


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of each replica."""

    replicas: int
    max_sequences: int
    max_batched_tokens: int
    kv: KvShape
    max_context_tokens: int
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
