"""What routers may see of a replica, at any moment of a leap."""

from typing import Self

import simpy

from sim.engine.pricing import Leap
from sim.engine.state import ReplicaState


class Observed(ReplicaState):
    """A state with a clock and passes in flight, as it stands now."""

    env: simpy.Environment
    _leap: Leap

    @property
    def lanes(self) -> tuple[Self, ...]:
        """Its queues: one."""
        return (self,)

    def cached_tokens(self, row: int, tokens: int) -> int:  # noqa: ARG002
        """Return the tokens of a prompt that need not be computed: nothing is kept."""
        return 0

    def cached_tokens_after(self, passes: int, row: int, tokens: int) -> int:  # noqa: ARG002
        """Return the same, once so many passes of the leap are over."""
        return 0

    def held_in_flight(self) -> float:
        """Return the KV tokens of the decoding requests in the pass in flight."""
        batch, leap = self.batch, self._leap
        if leap.passes == 1 or not batch.members:
            return batch.held
        begun = leap.pass_at(self.env.now - leap.start_s, leap.passes)
        return batch.held + batch.growth * (begun - 1)
