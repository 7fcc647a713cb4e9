"""From limits to replicas: one lane each, or several; with a prefix cache, or without."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import simpy

from sim.cost import ForwardPass
from sim.cost.lane import lane_pass
from sim.decoding import DraftWork
from sim.engine.crew import Crew
from sim.engine.feed import Feed
from sim.engine.kv_pool import KvPool
from sim.engine.lane import Lane, LanePricer
from sim.engine.limits import Limits
from sim.engine.log import Log
from sim.engine.prefix_cache import Names
from sim.engine.pricing import Pricer
from sim.engine.replica import Replica
from sim.engine.schedulers import ChunkedPrefill
from sim.engine.sequence import Sequence
from sim.engine.shared_pool import SharedPool
from sim.engine.sharing import Sharing, SharingLane

_R = TypeVar("_R", bound=Replica)


@dataclass(frozen=True, slots=True)
class Fleet:
    """What the replicas of one run have in common."""

    env: simpy.Environment
    limits: Limits
    """Those of each lane."""
    names: Names | None
    """Of blocks that requests may share; None: nothing is kept."""
    log: Log
    feed: Callable[[int], Feed]
    """The arrivals that each replica can see coming."""
    measured: int
    accept: Callable[[int, int, float], Sequence | None]
    on_finish: Callable[[int, int, float], bool]
    leap: bool

    def replicas(self, cost: ForwardPass, draft: DraftWork | None) -> list[Replica] | list[Crew]:
        """Make all of them."""
        indices = range(self.limits.replicas)
        if self.limits.lanes == 1:
            pricer = Pricer(cost, draft)
            kind = Replica if self.names is None else Sharing
            return [self._one(kind, index, pricer, self.feed(index)) for index in indices]
        return [self._crew(index, cost, draft) for index in indices]

    def _crew(self, index: int, cost: ForwardPass, draft: DraftWork | None) -> Crew:
        count, lane_cost = self.limits.lanes, lane_pass(cost)
        pricer = LanePricer(lane_cost, draft)
        kind = Lane if self.names is None else SharingLane
        none = Feed((), ())
        first = index * count
        return Crew(
            self.env,
            [self._one(kind, first + place, pricer, none) for place in range(count)],
            ranks=self.limits.ranks,
            cost=lane_cost,
            feed=self.feed(index),
            accept=self.accept,
            leap=self.leap,
        )

    def _one(self, kind: type[_R], index: int, pricer: Pricer, feed: Feed) -> _R:
        limits, names = self.limits, self.names
        return kind(
            self.env,
            index,
            pricer=pricer,
            pool=KvPool(limits.kv) if names is None else SharedPool(limits.kv, names),
            scheduler=ChunkedPrefill(limits.max_sequences, limits.max_batched_tokens),
            log=self.log,
            feed=feed,
            own=feed.rows_before(self.measured),
            accept=self.accept,
            on_finish=self.on_finish,
            leap=self.leap,
        )
