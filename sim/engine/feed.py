"""Arrivals that are known beforehand: their times, and the replica that will get them.

In an open loop with a router that does not look at the replicas, a replica can see its own next
arrival coming. It ends a leap with the pass in which the arrival falls, and no event has to
interrupt it.
"""

from array import array
from bisect import bisect_left
from collections.abc import Sequence as Collection
from math import inf


class Feed:
    """The rows that one replica gets, in order of time."""

    __slots__ = ("_rows", "_times", "_upto", "next_s")

    def __init__(self, times: Collection[float], rows: Collection[int]) -> None:
        self._times, self._rows, self._upto = array("d", times), rows, 0
        self._times.append(inf)  # after the last one
        self.next_s = self._times[0]
        """Time of the next arrival, s."""

    def rows_before(self, row: int) -> int:
        """Return how many rows of the feed come before `row`."""
        return bisect_left(self._rows, row)

    def take(self) -> tuple[int, float]:
        """Remove and return the next row and its time."""
        upto, at_s = self._upto, self.next_s
        self._upto = coming = upto + 1
        self.next_s = self._times[coming]
        return self._rows[upto], at_s
