"""Decode goes first: prompts are let in, in waves, when few sequences are left that decode."""

from math import floor
from typing import Annotated, Literal

from annotated_types import Ge, Lt

from sim.engine.schedulers.base import Scheduler, SchedulerSettings
from sim.engine.schedulers.rules import Rules
from sim.engine.schedulers.separate import InWaves
from sim.engine.state import ReplicaState


class DecodeFirst(InWaves):
    """A wave of prompts begins when `refill_at` sequences or fewer decode."""

    __slots__ = ("refill_at",)

    def __init__(
        self, max_sequences: int, max_batched_tokens: int, rules: Rules | None, refill_at: int
    ) -> None:
        super().__init__(max_sequences, max_batched_tokens, rules)
        self.refill_at = refill_at

    def _begins(self, replica: ReplicaState) -> bool:
        return len(replica.batch.members) <= self.refill_at


class DecodeFirstSettings(SchedulerSettings):
    """Decode on until few are left, then let in a wave of prompts: few interruptions."""

    kind: Literal["decode_first"] = "decode_first"
    refill_share: Annotated[float, Ge(0), Lt(1)] = 0.5
    """Of `max_sequences`: with so many or fewer decoding, prompts are let in."""

    def scheduler(
        self, max_sequences: int, max_batched_tokens: int, rules: Rules | None
    ) -> Scheduler:
        """Return the scheduler of one replica."""
        refill_at = floor(self.refill_share * max_sequences)
        return DecodeFirst(max_sequences, max_batched_tokens, rules, refill_at)
