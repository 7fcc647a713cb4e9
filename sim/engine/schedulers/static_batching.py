"""Static batching: a batch is formed, answered to the last token, and only then the next."""

from typing import Literal

from sim.engine.schedulers.base import Scheduler, SchedulerSettings
from sim.engine.schedulers.rules import Rules
from sim.engine.schedulers.separate import InWaves
from sim.engine.state import ReplicaState


class StaticBatching(InWaves):
    """Those who come before decoding begins make a batch; the next is formed when it is done."""

    __slots__ = ()

    def _begins(self, replica: ReplicaState) -> bool:
        return not replica.running


class StaticBatchingSettings(SchedulerSettings):
    """Answer one batch after the other; places that become free stay empty until its end."""

    kind: Literal["static_batching"] = "static_batching"

    def scheduler(
        self, max_sequences: int, max_batched_tokens: int, rules: Rules | None
    ) -> Scheduler:
        """Return the scheduler of one replica."""
        return StaticBatching(max_sequences, max_batched_tokens, rules)
