"""From limits to a replica: plain, or one with habits."""

from collections.abc import Callable
from functools import partial

import simpy

from sim.engine.feed import Feed
from sim.engine.habits import Habits
from sim.engine.habitual import HabitualReplica
from sim.engine.kv_pool import KvPool, ReservingPool
from sim.engine.limits import Limits
from sim.engine.log import Log
from sim.engine.pricing import Pricer
from sim.engine.replica import Replica
from sim.engine.sequence import Sequence


def build_replica(
    env: simpy.Environment,
    index: int,
    limits: Limits,
    *,
    pricer: Pricer,
    log: Log,
    feed: Feed,
    own: int,
    accept: Callable[[int, int, float], Sequence | None],
    on_finish: Callable[[int, int, float], bool],
    leap: bool,
) -> Replica:
    """Return a replica with a scheduler, a KV pool and a waiting line of its own."""
    settings, habits = limits.scheduler, limits.habits
    rules = settings.rules(habits, limits.max_batched_tokens, limits.swap_s_per_block)
    scheduler = settings.scheduler(limits.max_sequences, limits.max_batched_tokens, rules)
    scheduler.watchful = settings.watchful(habits)
    kind: Callable[..., Replica] = Replica
    swaps = rules is not None and rules.swap_s_per_block is not None
    if scheduler.separate or swaps or (habits is not None and habits.shows_late):
        kind = partial(HabitualReplica, habits=habits or Habits())
    whole = habits is not None and habits.whole_answer
    replica = kind(
        env,
        index,
        pricer=pricer,
        pool=ReservingPool(limits.kv) if whole else KvPool(limits.kv),
        scheduler=scheduler,
        log=log,
        feed=feed,
        own=own,
        accept=accept,
        on_finish=on_finish,
        leap=leap,
    )
    replica.waiting = settings.queue(habits)
    return replica
