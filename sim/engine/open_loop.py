"""The source of an open loop whose router looks at the replicas: one event an arrival."""

from collections.abc import Callable, Sequence
from typing import Final

import simpy
from simpy.events import EventPriority

_AFTER_PASSES: Final = EventPriority(2)
"""Priority of an event: after the passes that end at the same instant, which have 1."""


class OpenLoop:
    """Hands each row to `submit` at its time; rows of one instant come together, in order."""

    def __init__(
        self,
        env: simpy.Environment,
        times_s: Sequence[float],
        submit: Callable[[int, int, float], None],
    ) -> None:
        self._env, self._times_s, self._submit = env, times_s, submit
        self._next = 0
        if times_s:
            self._wait()

    def _wait(self) -> None:
        arrival = simpy.Event(self._env)
        arrival._ok, arrival._value = True, None  # noqa: SLF001  # a timeout, but after the others
        if arrival.callbacks is not None:
            arrival.callbacks.append(self._arrive)
        delay_s = max(0.0, self._times_s[self._next] - self._env.now)
        self._env.schedule(arrival, _AFTER_PASSES, delay_s)

    def _arrive(self, _: simpy.Event) -> None:
        times_s, row = self._times_s, self._next
        at_s = times_s[row]
        while row < len(times_s) and times_s[row] == at_s:
            self._submit(row, -1, at_s)
            row += 1
        self._next = row
        if row < len(times_s):
            self._wait()
