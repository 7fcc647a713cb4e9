"""What a router may look at, and what it decides."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict


class ReplicaLoad(Protocol):
    """A replica as a router sees it at the moment of an arrival."""

    @property
    def outstanding(self) -> int:
        """Requests that wait or run there."""

    @property
    def kv_tokens(self) -> int:
        """KV tokens held by what runs there, and those that waiting prompts will take."""

    def cached_tokens(self, row: int) -> int:
        """Tokens at the beginning of a request's prompt that its prefix cache holds."""


class Arrival(NamedTuple):
    """The request to be routed."""

    turn: int
    """Requests routed before it, rejected ones included."""
    row: int
    draws: np.random.Generator
    """The router's own random stream."""


class BaseRouter(BaseModel):
    """Settings of a router; what it decides is a pure function of the loads and the arrival."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kind: str
    """The router's id; each router narrows it to its own."""

    @property
    def foreseeable(self) -> bool:
        """Whether it decides without a look at the replicas: arrivals are dealt beforehand."""
        return False

    def choose(self, replicas: Sequence[ReplicaLoad], arrival: Arrival) -> int:
        """Return the index of the replica that gets the request."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """The router in words."""
        return self.kind.replace("_", " ")


def fewest(replicas: Sequence[ReplicaLoad], among: Sequence[int]) -> int:
    """Return the first of some replicas, in the order given, with the fewest outstanding."""
    best, least = among[0], replicas[among[0]].outstanding
    for index in among:
        count = replicas[index].outstanding
        if count < least:
            best, least = index, count
    return best
