"""The router at work: replicas as it sees them at the moment of an arrival."""

from collections import deque
from collections.abc import Sequence as Collection
from math import floor

import numpy as np

from sim.engine.replica import Replica
from sim.engine.sequence import Sequence
from sim.routers import Arrival, BaseRouter, LeastKv
from sim.units import TOKEN_ROUNDING


class CountedQueue(deque[Sequence]):
    """A queue that knows how many tokens its requests will have to compute."""

    tokens = 0

    def append(self, item: Sequence, /) -> None:
        """Queue a request."""
        self.tokens += item.target
        super().append(item)

    def appendleft(self, item: Sequence, /) -> None:
        """Queue a request before all others."""
        self.tokens += item.target
        super().appendleft(item)

    def popleft(self) -> Sequence:
        """Take the first request out."""
        item = super().popleft()
        self.tokens -= item.target
        return item


class Seen:
    """One replica, as routers see it."""

    __slots__ = ("_queue", "_replica")

    def __init__(self, replica: Replica, queue: CountedQueue | None) -> None:
        self._replica, self._queue = replica, queue

    @property
    def outstanding(self) -> int:
        """Requests that wait or run there."""
        return len(self._replica.waiting) + len(self._replica.running)

    @property
    def kv_tokens(self) -> int:
        """KV tokens as of the start of the pass in flight, and prompts in full, whole tokens."""
        replica, queue = self._replica, self._queue
        tokens = replica.held_in_flight()
        tokens += sum(sequence.target for sequence in replica.prefilling)
        tokens += 0 if queue is None else queue.tokens
        return floor(tokens + TOKEN_ROUNDING)

    def cached_tokens(self, row: int) -> int:  # noqa: ARG002, PLR6301
        """Nothing is kept from one request to the next."""
        return 0


class Routing:
    """A router, what it sees of each replica, and its random stream."""

    def __init__(
        self, router: BaseRouter, replicas: Collection[Replica], draws: np.random.Generator
    ) -> None:
        self._router, self._draws, self._turn = router, draws, 0
        self._seen: list[Seen] = []
        for replica in replicas:
            queue = CountedQueue() if isinstance(router, LeastKv) else None
            if queue is not None:
                replica.waiting = queue
            self._seen.append(Seen(replica, queue))

    def choose(self, row: int) -> int:
        """Return the replica of the next request."""
        turn, self._turn = self._turn, self._turn + 1
        return self._router.choose(self._seen, Arrival(turn, row, self._draws))
