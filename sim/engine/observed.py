"""What a replica waits for, and what routers may see of it at any moment of a leap."""

from collections.abc import Callable
from typing import Self

import simpy

from sim.engine.feed import Feed
from sim.engine.pricing import Leap
from sim.engine.sequence import Sequence
from sim.engine.state import ReplicaState


class Observed(ReplicaState):
    """A state with a clock and passes in flight, as it stands now."""

    quiet: Callable[[float], float] | None = None
    """Takes it in one go to the next boundary that is out of the ordinary (`quiet.py`)."""
    env: simpy.Environment
    accept: Callable[[int, int, float], Sequence | None]
    own_left: int
    _leap: Leap
    _pending: simpy.Timeout | None = None
    """The boundary or awakening to come; None while idle with nothing in sight."""

    def _schedule(self, delay_s: float, callback: Callable[[simpy.Event], None]) -> None:
        self._pending = pending = simpy.Timeout(self.env, delay_s)
        if pending.callbacks is not None:
            pending.callbacks.append(callback)

    def take_next(self, feed: Feed) -> None:
        """Queue the next arrival of the feed, or turn it away."""
        row, at_s = feed.take()
        sequence = self.accept(row, -1, at_s)
        if sequence is not None:
            self.waiting.append(sequence)
        elif self.own_left:
            self.own_left -= 1

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
