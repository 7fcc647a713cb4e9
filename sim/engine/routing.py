"""The router at work: replicas as it sees them at the moment of an arrival."""

from collections.abc import Sequence as Collection
from math import floor

import numpy as np

from sim.engine.crew import Crew
from sim.engine.replica import Replica
from sim.routers import Arrival, BaseRouter
from sim.units import TOKEN_ROUNDING

Rows = memoryview
"""One whole number for each request."""


class Seen:
    """One replica, as routers see it."""

    __slots__ = ("_input_tokens", "_lanes", "_replica")

    def __init__(self, replica: Replica | Crew, input_tokens: Rows) -> None:
        self._replica, self._lanes, self._input_tokens = replica, replica.lanes, input_tokens

    @property
    def outstanding(self) -> int:
        """Requests that wait or run there."""
        return sum(len(lane.waiting) + len(lane.running) for lane in self._lanes)

    @property
    def kv_tokens(self) -> int:
        """KV tokens as of the start of the passes in flight, and prompts in full, whole tokens."""
        tokens = self._replica.held_in_flight()
        for lane in self._lanes:
            tokens += sum(sequence.target for sequence in lane.prefilling)
            tokens += sum(sequence.target for sequence in lane.waiting)
        return floor(tokens + TOKEN_ROUNDING)

    def cached_tokens(self, row: int) -> int:
        """Tokens at the beginning of a request's prompt that its prefix cache holds."""
        return self._replica.cached_tokens(row, self._input_tokens[row])


class Routing:
    """A router, what it sees of each replica, and its random stream."""

    def __init__(
        self,
        router: BaseRouter,
        replicas: Collection[Replica | Crew],
        input_tokens: Rows,
        draws: np.random.Generator,
    ) -> None:
        self._router, self._draws, self._turn = router, draws, 0
        self._seen = [Seen(replica, input_tokens) for replica in replicas]

    def choose(self, row: int) -> int:
        """Return the replica of the next request."""
        turn, self._turn = self._turn, self._turn + 1
        return self._router.choose(self._seen, Arrival(turn, row, self._draws))
