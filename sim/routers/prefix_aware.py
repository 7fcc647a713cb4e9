"""To the replica that holds most of the prompt already, unless it is too busy."""

from collections.abc import Sequence
from typing import Annotated, Literal

from annotated_types import Ge, Le

from sim.routers.base import Arrival, BaseRouter, ReplicaLoad
from sim.units import counted


class PrefixAware(BaseRouter):
    """Longest cached prefix among the replicas that are not far busier than the least busy one.

    Of equals, the one with fewer requests, then the first. The cache-aware policy of SGLang's
    router works so, with an approximate tree; here the replica's own cache is asked.
    """

    kind: Literal["prefix_aware"] = "prefix_aware"
    balance_requests: Annotated[int, Ge(0), Le(1_000_000)] = 32
    """Requests that a replica may have more than the least busy one and still be chosen."""

    def choose(self, replicas: Sequence[ReplicaLoad], arrival: Arrival) -> int:
        """Return the replica with the longest prefix."""
        counts = [replica.outstanding for replica in replicas]
        most = min(counts) + self.balance_requests
        best, found = 0, (-1, 0)
        for index, (replica, count) in enumerate(zip(replicas, counts, strict=True)):
            if count <= most:
                merit = replica.cached_tokens(arrival.row), -count
                if found == (-1, 0) or merit > found:
                    best, found = index, merit
        return best

    @property
    def label(self) -> str:
        """The router in words."""
        near = counted(self.balance_requests, "request")
        return f"prefix aware (within {near} of the least busy)"
