"""To the replica with the least KV spoken for."""

from collections.abc import Sequence
from typing import Literal

from sim.routers.base import Arrival, BaseRouter, ReplicaLoad


class LeastKv(BaseRouter):
    """Fewest KV tokens held or waited for; of equals, the first.

    Waiting prompts count in full: without them all requests of one moment would go one way.
    """

    kind: Literal["least_kv"] = "least_kv"

    def choose(self, replicas: Sequence[ReplicaLoad], arrival: Arrival) -> int:  # noqa: ARG002
        """Return the replica with the least KV."""
        tokens = [replica.kv_tokens for replica in replicas]
        return tokens.index(min(tokens))
