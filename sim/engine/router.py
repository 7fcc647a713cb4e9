"""Routers: which replica gets which request."""


class RoundRobin:
    """Each replica in turn, whatever its state; a request that is rejected has had its turn."""

    def __init__(self, replicas: int) -> None:
        self._replicas = replicas
        self._next = 0

    def choose(self) -> int:
        """Return the replica of the next request."""
        chosen = self._next
        self._next = (chosen + 1) % self._replicas
        return chosen

    def rows_of(self, replica: int, rows: int) -> range:
        """Return the rows of an open loop that a replica will get: known beforehand."""
        return range(replica, rows, self._replicas)
