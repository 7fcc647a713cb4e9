"""Schedulers whose passes hold prompts or decode, never both."""

from abc import abstractmethod

from sim.engine.schedulers.base import Scheduler
from sim.engine.schedulers.rules import Rules
from sim.engine.state import ReplicaState


class SeparatePasses(Scheduler):
    """While prompts are being computed, the decode batch stands still.

    When new prompts are let in is what the kinds differ in. KV that runs short preempts as
    everywhere, and nobody is admitted in that pass.
    """

    __slots__ = ()
    separate = True

    def fill(self, replica: ReplicaState) -> bool:
        """Set the prompt chunks of the coming pass, preempt, admit; True if any was preempted."""
        budget = self.max_batched_tokens
        if self.rules is not None:
            self.rules.look(replica)
        used, coming, free = self._go_on(replica, budget)
        exact = free < 0
        if exact:
            free = self._make_room(replica)
            if free < 0:
                return True
        if replica.waiting and self._lets_in(replica):
            reserved = replica.batch.positions + coming
            self._admit(replica, budget - used, used, reserved, free, exact)
        return False

    def _lets_in(self, replica: ReplicaState) -> bool:  # noqa: ARG002
        """Tell whether new prompts may begin now."""
        return True


class InWaves(SeparatePasses):
    """Prompts come in waves: once one has begun, until decoding goes on."""

    __slots__ = ("_wave",)

    def __init__(self, max_sequences: int, max_batched_tokens: int, rules: Rules | None) -> None:
        super().__init__(max_sequences, max_batched_tokens, rules)
        self._wave = -1
        """Decode passes so far when the last wave began."""

    def _lets_in(self, replica: ReplicaState) -> bool:
        if self._begins(replica):
            self._wave = replica.passes
        return self._wave == replica.passes

    @abstractmethod
    def _begins(self, replica: ReplicaState) -> bool:
        """Tell whether a wave may begin now."""
