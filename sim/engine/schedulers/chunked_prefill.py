"""Continuous batching with a token budget: prompt chunks ride along with decode passes."""

from typing import Literal

from sim.engine.schedulers.base import Scheduler, SchedulerSettings
from sim.engine.schedulers.rules import Rules
from sim.engine.state import ReplicaState


class ChunkedPrefill(Scheduler):
    """First come, first served, as in vLLM v1: running requests first, then waiting ones.

    A running request that finds no KV block preempts the newest one; nobody is admitted in
    that pass.
    """

    __slots__ = ()

    def __init__(
        self, max_sequences: int, max_batched_tokens: int, rules: Rules | None = None
    ) -> None:
        super().__init__(max_sequences, max_batched_tokens, rules)

    def fill(self, replica: ReplicaState) -> bool:
        """Set the prompt chunks of the coming pass, preempt, admit; True if any was preempted."""
        reserved = replica.batch.positions  # all that run must be able to decode in one pass
        budget = self.max_batched_tokens - reserved
        if budget < 0:  # noqa: PLR1730  # hot; who runs needs more than when it was admitted
            budget = 0
        if self.rules is not None:
            self.rules.look(replica)
        used = coming = 0
        if replica.prefilling:
            used, coming, free = self._go_on(replica, budget)
        else:
            free = replica.pool.least_free(replica.batch)
        exact = free < 0
        if exact:
            free = self._make_room(replica)
            if free < 0:
                return True
        if replica.waiting:
            self._admit(replica, budget - used, used, reserved + coming, free, exact)
        return False


class ChunkedPrefillSettings(SchedulerSettings):
    """Mix prompt chunks into decode passes (vLLM; TensorRT-LLM's in-flight batching)."""

    kind: Literal["chunked_prefill"] = "chunked_prefill"

    def scheduler(
        self, max_sequences: int, max_batched_tokens: int, rules: Rules | None
    ) -> Scheduler:
        """Return the scheduler of one replica."""
        return ChunkedPrefill(max_sequences, max_batched_tokens, rules)
