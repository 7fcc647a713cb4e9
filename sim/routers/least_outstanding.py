"""To the replica with the fewest requests."""

from collections.abc import Sequence
from typing import Literal

from sim.routers.base import Arrival, BaseRouter, ReplicaLoad, fewest


class LeastOutstanding(BaseRouter):
    """Fewest requests that wait or run; of equals, the first ("join the shortest queue")."""

    kind: Literal["least_outstanding"] = "least_outstanding"

    def choose(self, replicas: Sequence[ReplicaLoad], arrival: Arrival) -> int:  # noqa: ARG002
        """Return the replica with the fewest requests."""
        return fewest(replicas, range(len(replicas)))
