"""From limits to replicas: one lane each, or several; with a prefix cache, or without."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import simpy

from sim.cost import ForwardPass, KvShape
from sim.cost.lane import LanePass, lane_pass
from sim.decoding import Strategy
from sim.engine.crew import Crew
from sim.engine.drafting import DraftPricer, draft_pricer
from sim.engine.feed import Feed
from sim.engine.habits import Habits
from sim.engine.habitual import HabitualReplica
from sim.engine.habitual_lane import HabitualLane
from sim.engine.kv_pool import KvPool, ReservingPool
from sim.engine.lane import Lane, LanePricer, LockstepLanePricer
from sim.engine.limits import Limits
from sim.engine.log import Log
from sim.engine.policies import Policy, build
from sim.engine.policies.lockstep import pricer_of
from sim.engine.prefix_cache import Names
from sim.engine.pricing import Pricer
from sim.engine.quiet import quiet_passes
from sim.engine.replica import Replica
from sim.engine.sequence import Sequence
from sim.engine.shared_pool import ReservingSharedPool, SharedPool
from sim.engine.sharing import Sharing, SharingHabitual, SharingHabitualLane, SharingLane
from sim.records import Leaps

_R = TypeVar("_R", bound=Replica)


@dataclass(frozen=True, slots=True)
class Pricing:
    """What the passes of a strategy are priced with."""

    strategy: Strategy
    cost: ForwardPass
    draft_cost: ForwardPass | None
    """Of a drafter that has layers of its own."""

    def pricer(self) -> Pricer:
        """Return the pricing of whole replicas."""
        return pricer_of(self.strategy, self.cost, self.drafter(self.cost))

    def lane_pricer(self, lane_cost: LanePass) -> Pricer:
        """Return the pricing of single lanes, whose cost knows the other ranks."""
        drafter, stretch = self.of_lanes().drafter(lane_cost), self.strategy.stretch
        if stretch(2) == 1.0:
            return LanePricer(lane_cost, drafter)
        return LockstepLanePricer(lane_cost, drafter).waiting(stretch)

    def of_lanes(self) -> "Pricing":
        """Return the same for lanes that see no other ranks."""
        own = None if self.draft_cost is None else lane_pass(self.draft_cost)
        return Pricing(self.strategy, lane_pass(self.cost), own)

    def policy(self, max_batched_tokens: int) -> Policy | None:
        """Return what depends on the batch; it prices a batch without other ranks."""
        drafter = self.drafter(self.cost)
        return build(self.strategy, self.cost, drafter, max_batched_tokens)

    def drafter(self, cost: ForwardPass) -> DraftPricer | None:
        """Return the pricing of the drafter beside `cost`, if there is one on the GPU."""
        return draft_pricer(self.strategy.draft_work, cost, self.draft_cost)


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

    def replicas(self, pricing: Pricing) -> list[Replica] | list[Crew]:
        """Make all of them."""
        indices = range(self.limits.replicas)
        if self.limits.lanes > 1:
            return [self._crew(index, pricing) for index in indices]
        kind, pricer = self._kind(), pricing.pricer()
        policy = pricing.policy(self.limits.max_batched_tokens)
        replicas: list[Replica] = []
        for index in indices:
            replicas.append(self._one(kind, index, pricer, self.feed(index)))
            replicas[-1].policy = policy
            replicas[-1].quiet = quiet_passes(replicas[-1])
        return replicas

    def _crew(self, index: int, pricing: Pricing) -> Crew:
        count, lane_cost = self.limits.lanes, lane_pass(pricing.cost)
        pricer = pricing.lane_pricer(lane_cost)
        policy = pricing.of_lanes().policy(self.limits.max_batched_tokens)
        kind, none, first = self._lane_kind(), Feed((), ()), index * count
        lanes = [self._one(kind, first + place, pricer, none) for place in range(count)]
        for lane in lanes:
            lane.policy = policy
        return Crew(
            self.env,
            lanes,
            ranks=self.limits.ranks,
            cost=lane_cost,
            feed=self.feed(index),
            accept=self.accept,
            leap=self.leap,
        )

    def _kind(self) -> type[Replica]:
        if self._habitual:
            return HabitualReplica if self.names is None else SharingHabitual
        return Replica if self.names is None else Sharing

    def _lane_kind(self) -> type[Lane]:
        if self._habitual:
            return HabitualLane if self.names is None else SharingHabitualLane
        return Lane if self.names is None else SharingLane

    @property
    def _habitual(self) -> bool:
        """Whether passes may stand still, or users see tokens otherwise than pass by pass."""
        limits, habits = self.limits, self.limits.habits
        swaps = limits.scheduler.preemption == "swap"
        late = habits is not None and habits.shows_late
        return limits.scheduler.separate or swaps or late

    def _one(self, kind: type[_R], index: int, pricer: Pricer, feed: Feed) -> _R:
        """Return a replica or lane with a scheduler, a KV pool and a waiting line of its own."""
        limits, settings, habits = self.limits, self.limits.scheduler, self.limits.habits
        rules = settings.rules(habits, limits.max_batched_tokens, limits.swap_s_per_block)
        scheduler = settings.scheduler(limits.max_sequences, limits.max_batched_tokens, rules)
        scheduler.watchful = settings.watchful(habits)
        more: dict[str, Any] = {"habits": habits or Habits()} if self._habitual else {}
        replica = kind(
            self.env,
            index,
            pricer=pricer,
            pool=self._pool(),
            scheduler=scheduler,
            log=self.log,
            feed=feed,
            own=feed.rows_before(self.measured),
            accept=self.accept,
            on_finish=self.on_finish,
            leap=self.leap,
            **more,
        )
        replica.waiting = settings.queue(habits)
        return replica

    def _pool(self) -> KvPool:
        shape, names, habits = self.limits.kv, self.names, self.limits.habits
        if habits is not None and habits.whole_answer:
            return ReservingPool(shape) if names is None else ReservingSharedPool(shape, names)
        return KvPool(shape) if names is None else SharedPool(shape, names)


def peak_share(replicas: Iterable[Replica | Crew], kv: KvShape, leaps: Leaps) -> float:
    """Return the most blocks ever in use in one pool of shape `kv`, as a share of it."""
    pools = [lane.pool for replica in replicas for lane in replica.lanes]
    peaks = [pool.peak_blocks for pool in pools if isinstance(pool, SharedPool)]
    if not kv.blocks:
        return 0.0
    if peaks:
        return max(peaks) / kv.blocks
    return float(kv.share_of(leaps.kv_used_tokens, leaps.sequences).max(initial=0.0))
