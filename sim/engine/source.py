"""The source of a closed loop: users who ask again when they have their answer."""

from collections.abc import Callable
from heapq import heappop, heappush

import simpy


class ClosedLoop:
    """A fixed number of users: each submits its next request `think_s` after its last answer."""

    def __init__(
        self,
        env: simpy.Environment,
        *,
        users: int,
        rows: int,
        think_s: float,
        submit: Callable[[int, int, float], None],
    ) -> None:
        self._env, self._rows, self._think_s, self._submit = env, rows, think_s, submit
        self._next_row = 0
        self._ready: list[tuple[float, int]] = []
        for user in range(min(users, rows)):
            heappush(self._ready, (0.0, user))
        self._wait(0.0)

    def answered(self, user: int) -> None:
        """Let the user think, then ask again while rows are left."""
        if self._next_row + len(self._ready) < self._rows:
            heappush(self._ready, (self._env.now + self._think_s, user))
            self._wait(self._think_s)

    def _wait(self, delay_s: float) -> None:
        timeout = simpy.Timeout(self._env, delay_s)
        if timeout.callbacks is not None:
            timeout.callbacks.append(self._let_passes_end if delay_s else self._flush)

    def _let_passes_end(self, _: simpy.Event) -> None:
        """Queue behind the passes that end at this instant: who arrives then waits."""
        self._wait(0.0)

    def _flush(self, _: simpy.Event) -> None:
        """Submit for all who are ready: those of one instant in the order of their numbers."""
        now = self._env.now
        while self._ready and self._ready[0][0] <= now:
            user = heappop(self._ready)[1]
            row, self._next_row = self._next_row, self._next_row + 1
            self._submit(row, user, now)
