"""Each replica in turn."""

from collections.abc import Sequence
from typing import Literal

from sim.routers.base import Arrival, BaseRouter, ReplicaLoad


class RoundRobin(BaseRouter):
    """Each replica in turn, whatever its state; a request that is rejected has had its turn."""

    kind: Literal["round_robin"] = "round_robin"

    @property
    def foreseeable(self) -> bool:
        """The turn of a request is its place in the order of arrivals."""
        return True

    def choose(self, replicas: Sequence[ReplicaLoad], arrival: Arrival) -> int:
        """Return the replica whose turn it is."""
        return arrival.turn % len(replicas)
