"""Continuous batching with a token budget: prompt chunks ride along with decode passes."""

from dataclasses import dataclass

from sim.engine.state import ReplicaState


@dataclass(frozen=True, slots=True)
class ChunkedPrefill:
    """First come, first served, as in vLLM v1: running requests first, then waiting ones.

    A running request that finds no KV block preempts the newest one; nobody is admitted in
    that pass.
    """

    max_sequences: int
    max_batched_tokens: int

    def fill(self, replica: ReplicaState) -> bool:
        """Set the prompt chunks of the coming pass, preempt, admit.

        True if the next pass must be asked about even if nothing ends before it.
        """
        batch, pool = replica.batch, replica.pool
        reserved = batch.positions  # all that run must be able to decode in one pass
        budget = self.max_batched_tokens - reserved
        free = pool.least_free(batch)
        for sequence in replica.prefilling:
            sequence.chunk = min(sequence.target - sequence.computed, budget)
            budget -= sequence.chunk
            free -= pool.blocks_of(sequence, sequence.computed + sequence.chunk)
            if sequence.phase is not None:
                reserved += sequence.phase.positions
        if free < 0 and self._make_room(replica):
            return True
        return bool(replica.waiting) and self._admit(replica, budget, reserved, free)

    @staticmethod
    def _make_room(replica: ReplicaState) -> bool:
        """Preempt the newest until the running requests fit; True if any was."""
        preempted = False
        while replica.pool.free(replica.batch, replica.prefilling, replica.passes) < 0:
            replica.preempt_newest()
            preempted = True
        return preempted

    def _admit(self, replica: ReplicaState, budget: int, reserved: int, free: float) -> bool:
        """Admit from the head of the queue; `free` is a lower bound until it matters.

        True if who was left out may fit a pass later without more room.
        """
        pool, waiting, exact = replica.pool, replica.waiting, False
        while waiting and budget > 0 and len(replica.running) < self.max_sequences:
            head = waiting[0]
            phase = head.phase
            positions = phase.positions if phase else 0
            if reserved + positions > self.max_batched_tokens:
                return False
            if pool.caching:
                pool.match(head)
            # what has nothing to prefill decodes in this very pass
            taken = min(head.target - head.computed, budget) if head.target else positions
            if taken > budget:
                return False
            slots = (
                head.computed + taken
                if head.target
                else head.kv + (phase.slots_extra if phase else 0.0)
            )
            need = pool.blocks_of(head, slots)
            if need > free and not exact:
                free = pool.free(replica.batch, replica.prefilling, replica.passes)
                exact = True
            if need > free:  # the less it finds the next time, the smaller is its first step
                return head.computed > 0 and head.target > budget
            free -= need
            reserved += positions
            budget -= taken
            replica.admit(taken)
        return False
