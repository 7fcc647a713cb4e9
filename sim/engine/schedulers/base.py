"""What all schedulers share: the settings that a scenario may give, preemption and admission."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from math import inf
from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, model_validator

from sim.engine.habits import Habits
from sim.engine.queues import FairQueue, KeyQueue, PickUpQueue, Queue
from sim.engine.schedulers.rules import Rules
from sim.engine.schedulers.weights import ClassWeights, in_order
from sim.engine.sequence import Sequence
from sim.engine.state import ReplicaState

Order = Literal["fcfs", "priority", "shortest_prompt", "fair"]
_TOKENS_OF_A_CLASS = 1000
"""Prompt tokens that weigh as much as one class of priority where waiting makes up for them."""


class Scheduler(ABC):
    """Decides, before each pass, what goes into it; one instance a replica."""

    __slots__ = ("max_batched_tokens", "max_sequences", "rules", "watchful")
    separate = False
    """Passes hold prompts or decode, never both."""

    def __init__(self, max_sequences: int, max_batched_tokens: int, rules: Rules | None) -> None:
        self.max_sequences, self.max_batched_tokens = max_sequences, max_batched_tokens
        self.rules = rules
        self.watchful = False
        """An arrival may matter even while others wait."""

    @abstractmethod
    def fill(self, replica: ReplicaState) -> bool:
        """Set the prompt chunks of the coming pass, preempt, admit; True if any was preempted."""

    def _go_on(self, replica: ReplicaState, budget: int) -> tuple[int, int, float]:
        """Give running prompts their chunks: tokens used, positions to come, least free blocks."""
        pool, rules = replica.pool, self.rules
        room = budget if rules is None else min(budget, rules.prefill_tokens)
        used = coming = 0
        free = pool.least_free(replica.batch)
        for sequence in replica.prefilling:
            computed, phase = sequence.computed, sequence.phase
            chunk = sequence.target - computed
            if chunk > room - used:
                chunk = int(room) - used
            sequence.chunk = chunk
            used += chunk
            free -= pool.blocks_of(sequence, computed + chunk)
            if phase is not None:
                coming += phase.positions
        return used, coming, free

    def _make_room(self, replica: ReplicaState) -> float:
        """Return the blocks left; negative: so many were short, and requests are preempted."""
        pool, batch = replica.pool, replica.batch
        free = short = pool.free(batch, replica.prefilling, replica.passes)
        while free < 0:
            if self.rules is None:
                replica.preempt_newest()
            else:
                self.rules.preempt(replica)
            free = pool.free(batch, replica.prefilling, replica.passes)
        return short

    def _admit(  # noqa: PLR0917  # called per pass: positional is faster
        self,
        replica: ReplicaState,
        budget: int,
        used: int,
        reserved: int,
        free: float,
        exact: bool,  # noqa: FBT001
    ) -> None:
        """Admit from the head of the queue; `free` is a lower bound until it matters, or exact."""
        pool, rules = replica.pool, self.rules
        plain = rules is None and not pool.caching
        queue = replica.waiting if rules is None else rules.queue(replica)
        most = budget if rules is None else min(budget, rules.prefill_tokens - used)
        while queue and budget > 0 and len(replica.running) < self.max_sequences:
            head = queue[0]
            phase, target = head.phase, head.target
            positions = phase.positions if phase else 0
            taken = positions  # what has nothing to prefill decodes in this very pass
            if target and plain:
                taken = target if target < budget else budget  # noqa: FURB136  # hot
            elif target:
                taken = self._chunk(replica, head, min(most, budget))
            if not 0 <= taken <= budget or reserved + positions > self.max_batched_tokens:
                return
            need = pool.blocks_of(head, head.computed + taken if target else _slots(head))
            if need > free and not exact:
                free = pool.free(replica.batch, replica.prefilling, replica.passes)
                exact = True
            if need > free:
                self._ask_again(replica, head, most)
                return
            if rules is not None and not rules.lets_in(replica, queue, head):
                return
            free -= need
            reserved += positions
            if target:
                most -= taken
            if target or not self.separate:
                budget -= taken
            replica.admit(taken)

    def _chunk(self, replica: ReplicaState, head: Sequence, most: float) -> int:
        """Return the tokens of a new prompt in this pass; -1 where it may not begin."""
        if most <= 0:
            return -1
        if self.rules is not None and self.rules.prompts <= len(replica.prefilling):
            return -1
        left = head.target
        if replica.pool.caching:
            replica.pool.match(head)
            left -= head.computed
        return left if left <= most else int(most)

    @staticmethod
    def _ask_again(replica: ReplicaState, head: Sequence, most: float) -> None:
        """Try again after a pass where less room may do: the less it finds, the less it needs."""
        if head.computed and head.target > most:
            replica.horizon = 1


def _slots(head: Sequence) -> float:
    """KV tokens that a request without a prompt to compute needs a place for in its first pass."""
    return head.kv + (head.phase.slots_extra if head.phase else 0.0)


class SchedulerSettings(BaseModel):
    """Settings that all schedulers know."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    order: Order = "fcfs"
    """Who is admitted first: who came first; the lowest `priority`; the shortest prompt; or the
    class that has had the fewest tokens for its weight."""
    ageing_s: Annotated[float, Gt(0), Le(1e9)] | None = None
    """Waiting that makes up for one class of priority, or for 1,000 prompt tokens, s; None:
    never, and who is last may starve."""
    class_weights: ClassWeights = ()
    """Shares of the classes with `order: fair`, by name; 1 for those that are not named. (Or a
    list, in the order of the classes.)"""
    max_prompts_per_pass: Annotated[int, Ge(1), Le(65536)] | None = None
    max_prefill_tokens_per_pass: Annotated[int, Ge(1), Le(1 << 20)] | None = None
    preemption: Literal["recompute", "swap"] = "recompute"
    """What becomes of the KV of a request that has to give way: computed once more, or moved to
    the host's memory and back (a prompt half computed starts anew)."""

    @model_validator(mode="after")
    def _the_order_has_its_keys(self) -> Self:
        if self.ageing_s is not None and self.order not in {"priority", "shortest_prompt"}:
            msg = f"ageing_s goes with `order: priority` or `shortest_prompt`, not {self.order}"
            raise ValueError(msg)
        if self.class_weights and self.order != "fair":
            msg = f"class_weights go with `order: fair`, not {self.order}"
            raise ValueError(msg)
        return self

    def for_classes(self, names: tuple[str, ...]) -> Self:
        """Return the same settings with weights in the order of the classes of the traffic."""
        return self.model_copy(update={"class_weights": in_order(self.class_weights, names)})

    def scheduler(
        self, max_sequences: int, max_batched_tokens: int, rules: Rules | None
    ) -> Scheduler:
        """Return the scheduler of one replica."""
        raise NotImplementedError

    @property
    def separate(self) -> bool:
        """Whether passes hold prompts or decode, never both."""
        return self.scheduler(1, 1, None).separate

    def queue(self, habits: Habits | None) -> Queue:
        """Return the waiting line of one replica."""
        ageing_s = self.ageing_s
        line: Queue = deque()
        if self.order == "priority" and ageing_s is None:
            line = KeyQueue(lambda sequence: sequence.priority)
        elif self.order == "priority" and ageing_s is not None:
            line = KeyQueue(lambda s, a=ageing_s: s.arrival_s + s.priority * a)  # type: ignore[misc]
        elif self.order == "shortest_prompt" and ageing_s is None:
            line = KeyQueue(lambda sequence: sequence.plan.prefill_tokens)
        elif self.order == "shortest_prompt" and ageing_s is not None:
            token_s = ageing_s / _TOKENS_OF_A_CLASS
            line = KeyQueue(lambda s: s.arrival_s + s.plan.prefill_tokens * token_s)
        elif self.order == "fair":
            if isinstance(self.class_weights, Mapping):
                raise TypeError("weights by name have no order: `for_classes` gives them one")
            line = FairQueue(self.class_weights)
        if habits is not None and habits.picks_up:
            return PickUpQueue(line, habits.pick_up_passes, habits.pick_up_every_passes)
        return line

    def rules(
        self, habits: Habits | None, max_batched_tokens: int, swap_s_per_block: float
    ) -> Rules | None:
        """Return the rules beside the plain ones, or None."""
        habits = habits or Habits()
        rules = Rules(
            prompts=self.max_prompts_per_pass or inf,
            prefill_tokens=self.max_prefill_tokens_per_pass or inf,
            pick_up=habits.picks_up,
            hold_passes=habits.hold_passes,
            hold_tokens=habits.hold_token_share * max_batched_tokens,
            by_priority=self.order == "priority",
            swap_s_per_block=swap_s_per_block if self.preemption == "swap" else None,
        )
        return None if rules == Rules(hold_tokens=rules.hold_tokens) else rules

    def watchful(self, habits: Habits | None) -> bool:
        """Tell whether an arrival may matter even while others wait."""
        gates = habits is not None and (habits.picks_up or habits.hold_passes > 0)
        return gates or self.order != "fcfs"
