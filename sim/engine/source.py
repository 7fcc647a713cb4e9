"""Sources that wait for answers: users of a closed loop, and sessions turn by turn."""

from array import array
from collections.abc import Callable
from dataclasses import fields
from heapq import heappop, heappush

import numpy as np
import simpy

from sim.records import IntArray, RequestRecords, Traffic

Submit = Callable[[int, int, float], None]
"""Takes a row, whom to tell when it is answered, and the time."""


class _Source:
    """Whoever is ready, in order of time; at one instant in the order of their numbers."""

    def __init__(self, env: simpy.Environment, submit: Submit) -> None:
        self._env, self._submit = env, submit
        self._ready: list[tuple[float, int]] = []

    def _come(self, delay_s: float, number: int) -> None:
        heappush(self._ready, (self._env.now + delay_s, number))
        self._wait(delay_s)

    def _wait(self, delay_s: float) -> None:
        timeout = simpy.Timeout(self._env, delay_s)
        if timeout.callbacks is not None:
            timeout.callbacks.append(self._let_passes_end if delay_s else self._flush)

    def _let_passes_end(self, _: simpy.Event) -> None:
        """Queue behind the passes that end at this instant: who arrives then waits."""
        self._wait(0.0)

    def _flush(self, _: simpy.Event) -> None:
        """Let all come who are ready."""
        now = self._env.now
        while self._ready and self._ready[0][0] <= now:
            self._arrive(heappop(self._ready)[1], now)

    def _arrive(self, number: int, now: float) -> None:
        raise NotImplementedError


class ClosedLoop(_Source):
    """A fixed number of users: each submits its next request `think_s` after its last answer."""

    def __init__(
        self, env: simpy.Environment, *, users: int, rows: int, think_s: float, submit: Submit
    ) -> None:
        super().__init__(env, submit)
        self._rows, self._think_s, self._next_row = rows, think_s, 0
        for user in range(min(users, rows)):
            heappush(self._ready, (0.0, user))
        self._wait(0.0)

    def answered(self, user: int) -> None:
        """Let the user think, then ask again while rows are left."""
        if self._next_row + len(self._ready) < self._rows:
            self._come(self._think_s, user)

    def place(self, row: int) -> int:
        """Return how many rows were issued before this one: they are taken as they stand."""
        return row

    def order(self) -> IntArray:
        """Return the rows in the order in which they were issued."""
        return np.arange(self._rows)

    def _arrive(self, number: int, now: float) -> None:
        row, self._next_row = self._next_row, self._next_row + 1
        self._submit(row, number, now)


class Sessions(_Source):
    """Sessions: a turn comes a pause after the answer to the one before.

    In an open loop the first turns come when the traffic says; in a closed one each user begins
    the next session when it has done with one.
    """

    def __init__(self, env: simpy.Environment, *, traffic: Traffic, submit: Submit) -> None:
        super().__init__(env, submit)
        turns = traffic.turns
        if turns is None:
            raise TypeError("no sessions")  # our mistake, not the user's
        self._pause_s = array("d", turns.pause_s)
        self._starts = array("q", turns.first[:-1])
        """First row of each session."""
        self._ends = frozenset((turns.first[1:] - 1).tolist())
        """Last row of each session."""
        self._arrival_s = None if traffic.users is not None else array("d", traffic.arrival_s)
        self._begun = 0
        self._places = array("q", [-1]) * len(traffic)
        self._issued = 0
        if traffic.users is None:
            self._begin_next()
        else:
            for _ in range(min(traffic.users, len(self._starts))):
                self._begin_next(at_once=True)

    def _begin_next(self, *, at_once: bool = False) -> None:
        """Let the next session begin, if there is one left."""
        if self._begun == len(self._starts):
            return
        row, self._begun = self._starts[self._begun], self._begun + 1
        if self._arrival_s is not None:
            self._come(max(0.0, self._arrival_s[row] - self._env.now), row)
        else:
            self._come(0.0 if at_once else self._pause_s[row], row)

    def answered(self, row: int) -> None:
        """Let the user of a row think, then go on."""
        if row not in self._ends:
            self._come(self._pause_s[row + 1], row + 1)
        elif self._arrival_s is None:
            self._begin_next()

    def _arrive(self, number: int, now: float) -> None:
        self._places[number], self._issued = self._issued, self._issued + 1
        self._submit(number, number, now)
        if self._arrival_s is not None and self._begun and number == self._starts[self._begun - 1]:
            self._begin_next()

    def place(self, row: int) -> int:
        """Return how many rows were issued before this one."""
        return self._places[row]

    def order(self) -> IntArray:
        """Return the rows in the order in which they were issued; those that never were, last."""
        places = np.array(self._places)
        return np.argsort(np.where(places < 0, len(places), places), kind="stable")


def in_order_of_issue(records: RequestRecords, order: IntArray) -> RequestRecords:
    """Return the records in the order in which they were issued, and numbered so."""
    if np.array_equal(order, records.request_id):
        return records
    columns = {field.name: getattr(records, field.name)[order] for field in fields(records)}
    return RequestRecords(**{**columns, "request_id": np.arange(len(order))})


def stints_in_order(stints: IntArray, places: IntArray) -> IntArray:
    """Return the stints with the place of each request among the records for its row."""
    if np.array_equal(places, np.arange(len(places))):
        return stints
    named = stints.copy()
    named[:, 0] = places[stints[:, 0]]
    return named
