"""Routers: which replica gets which request. Pure: no clock, no queue of their own.

To add one: a new file beside these with a class, and its name in `AnyRouter`.
"""

from typing import Annotated

from pydantic import BeforeValidator, Field

from sim.routers.base import Arrival, BaseRouter, ReplicaLoad
from sim.routers.least_kv import LeastKv
from sim.routers.least_outstanding import LeastOutstanding
from sim.routers.power_of_two import PowerOfTwo
from sim.routers.prefix_aware import PrefixAware
from sim.routers.round_robin import RoundRobin


def _by_kind(value: object) -> object:
    """Read `router: least_kv` as `router: {kind: least_kv}`."""
    return {"kind": value} if isinstance(value, str) else value


AnyRouter = Annotated[
    Annotated[
        RoundRobin | LeastOutstanding | LeastKv | PowerOfTwo | PrefixAware,
        Field(discriminator="kind"),
    ],
    BeforeValidator(_by_kind),
]

__all__ = [
    "AnyRouter",
    "Arrival",
    "BaseRouter",
    "LeastKv",
    "LeastOutstanding",
    "PowerOfTwo",
    "PrefixAware",
    "ReplicaLoad",
    "RoundRobin",
]
