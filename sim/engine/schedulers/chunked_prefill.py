"""Continuous batching with a token budget: prompt chunks ride along with decode passes (vLLM v1's way)."""

from dataclasses import dataclass

from sim.engine.sequence import whole_blocks
from sim.engine.state import ReplicaState


@dataclass(frozen=True, slots=True)
class ChunkedPrefill:
    """First come, first served. Running requests go first, then waiting ones while budget and KV last.

    A running request that finds no KV block preempts the newest one; nobody is admitted in that pass.
    """

    max_sequences: int
    max_batched_tokens: int

    def fill(self, replica: ReplicaState) -> bool:
        """Set the prompt chunks of the coming pass, preempt and admit; True if somebody was preempted."""
        budget = self.max_batched_tokens - replica.batch.positions
        for sequence in replica.prefilling:
            sequence.chunk = min(sequence.target - sequence.computed, budget)
            budget -= sequence.chunk
        if self._make_room(replica):
            return True
        if replica.waiting:
            self._admit(replica, budget)
        return False

    def _make_room(self, replica: ReplicaState) -> bool:
        """Preempt the newest until the running requests fit; True if any was."""
        pool, batch = replica.pool, replica.batch
        if pool.least_free(batch, replica.prefilling) >= 0:
            return False
        preempted = False
        while pool.free(batch, replica.prefilling, replica.passes) < 0:
            replica.preempt_newest()
            preempted = True
        return preempted

    def _admit(self, replica: ReplicaState, budget: int) -> None:
        pool, waiting = replica.pool, replica.waiting
        free = pool.least_free(replica.batch, replica.prefilling)
        exact = False
        reserved = replica.batch.positions + sum(
            sequence.phase.positions for sequence in replica.prefilling if sequence.phase
        )
        while waiting and budget > 0 and len(replica.running) < self.max_sequences:
            head = waiting[0]
            positions = head.phase.positions if head.phase else 0
            chunk = min(head.target, budget)
            if reserved + positions > self.max_batched_tokens:
                return  # all that run must be able to decode in one pass
            if head.target == 0 and positions > budget:
                return
            slots = (
                chunk if head.target or head.phase is None else head.kv + head.phase.slots_extra
            )
            need = whole_blocks(slots, pool.block_tokens)
            if need > free and not exact:
                free = pool.free(replica.batch, replica.prefilling, replica.passes)
                exact = True
            if need > free:
                return
            free -= need
            reserved += positions
            budget -= chunk if head.target else positions
            replica.admit(chunk)
