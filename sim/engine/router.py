"""Routers: which replica gets an arriving request."""

from collections.abc import Sequence as Collection

from sim.engine.replica import Replica


class RoundRobin:
    """Each replica in turn."""

    def __init__(self, replicas: Collection[Replica]) -> None:
        self._replicas = replicas
        self._next = 0

    def choose(self) -> Replica:
        """Return the replica for the next request."""
        replica = self._replicas[self._next]
        self._next = (self._next + 1) % len(self._replicas)
        return replica
