"""Sources: when requests arrive."""

from collections.abc import Callable, Generator
from heapq import heappop, heappush

import simpy

from sim.records import FloatArray


def open_loop(
    env: simpy.Environment, arrival_s: FloatArray, submit: Callable[[int, int, float], None]
) -> Generator[simpy.Event, None, None]:
    """Submit row after row at its time, whatever happens to those before."""
    for row, at_s in enumerate(arrival_s.tolist()):
        if at_s > env.now:
            yield simpy.Timeout(env, at_s - env.now)
        submit(row, -1, at_s)


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
        simpy.Timeout(env, 0.0).callbacks.append(self._flush)

    def answered(self, user: int) -> None:
        """Let the user think, then ask again while rows are left."""
        if self._next_row + len(self._ready) >= self._rows:
            return
        timeout = simpy.Timeout(self._env, self._think_s)
        heappush(self._ready, (self._env.now + self._think_s, user))
        timeout.callbacks.append(self._flush)

    def _flush(self, _: simpy.Event) -> None:
        """Submit for all who are ready: those of one instant in the order of their numbers."""
        now = self._env.now
        while self._ready and self._ready[0][0] <= now:
            _, user = heappop(self._ready)
            row, self._next_row = self._next_row, self._next_row + 1
            self._submit(row, user, now)
