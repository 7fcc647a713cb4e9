"""The better of two replicas drawn at random."""

from collections.abc import Sequence
from typing import Literal

from sim.routers.base import Arrival, BaseRouter, ReplicaLoad, fewest


class PowerOfTwo(BaseRouter):
    """Two different replicas are drawn; the one with fewer requests is taken (Mitzenmacher, 2001).

    Of equals, the one drawn first. The draws come from a stream of their own.
    """

    kind: Literal["power_of_two"] = "power_of_two"

    def choose(self, replicas: Sequence[ReplicaLoad], arrival: Arrival) -> int:
        """Return the less loaded of the two."""
        count = len(replicas)
        if count == 1:
            return 0
        first = int(arrival.draws.random() * count)
        other = int(arrival.draws.random() * (count - 1))
        return fewest(replicas, (first, other + (other >= first)))
