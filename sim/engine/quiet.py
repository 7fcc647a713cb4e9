"""The usual boundaries of the usual replica, one after the other in a tight loop.

Usual is a replica of one lane that knows its arrivals, serves first come, first served (who is
seen late, once it is), and has KV to spare, or reserves it. Then two kinds of passes make up
nearly all of a run: a batch that only decodes, until a request ends or comes, and one pass that
takes one whole new prompt along, or holds nothing else (`quiet_prompts`). `Replica` can do both,
and all else, step by step: here they are done at once, to the same bit (a test sees to it), and
whatever is not so simple is left to it.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop
from math import inf

from sim.cost import NO_LIMIT
from sim.cost.quick import Line
from sim.engine.habitual import HabitualReplica
from sim.engine.kv_pool import KvPool, ReservingPool
from sim.engine.log import LEAP
from sim.engine.pricing import Pricer, cut_at
from sim.engine.queues import PickUpQueue
from sim.engine.quiet_prompts import Pass, chunks_of_prompts, line_of, mixed_of, whole_prompt
from sim.engine.replica import Replica
from sim.engine.schedulers import ChunkedPrefill
from sim.engine.schedulers.separate import SeparatePasses

_Decode = Callable[[float, int, bool], float]
"""The same for at most so many passes, and whether the scheduler was asked: it must be where KV
may run short."""


def quiet_passes(replica: Replica) -> Pass | None:
    """Return what takes a replica from a boundary to the next one that is out of the ordinary.

    None where there is no such thing: the replica has habits, rules, a policy or other layers.
    """
    scheduler, pool, quick = replica.scheduler, replica.pool, replica.pricer.quick
    usual = (
        type(replica) in {Replica, HabitualReplica}
        and type(scheduler) in {ChunkedPrefill, SeparatePasses}
        and type(pool) in {KvPool, ReservingPool}
        and type(replica.pricer) is Pricer
        and isinstance(line_of(replica), deque)
        and replica.leaping
        and replica.policy is None
        and (scheduler.rules is None or scheduler.rules.only_pick_up)
        and pool.plain_tokens >= 0
    )
    if not usual or quick is None:
        return None
    decode, mixed = _decode_of(replica, quick.line), mixed_of(replica, quick.mixed)
    prompt, chunks = whole_prompt(replica, mixed), chunks_of_prompts(replica, mixed)
    return _passes_of(replica, decode, prompt, chunks)


def _look_of(replica: Replica) -> Callable[[], int] | None:
    """Return what lets new requests be seen whose time has come, before a pass without prompts.

    It returns the most passes until it must look again. None where all are seen at once.
    """
    waiting, members = replica.waiting, replica.batch.members
    if not isinstance(waiting, PickUpQueue):
        return None
    line, new, coming, look = waiting.seen, waiting.new, waiting.coming, waiting.look

    def seen() -> int:
        if not (new or coming or line):
            return NO_LIMIT
        return look(replica.turns, idle=not members, prompts=False) or NO_LIMIT

    return seen


def _passes_of(  # noqa: C901  # one loop: calls cost as much as what they would tidy up
    replica: Replica, decode: _Decode, prompt: Pass, chunks: Pass
) -> Pass:
    batch, feed, line, look = replica.batch, replica.feed, line_of(replica), _look_of(replica)
    fill, take_next, phase_ended = (
        replica.scheduler.fill,
        replica.take_next,
        replica.phase_ended,
    )
    ends, members = batch.ends, batch.members

    def passes(now: float) -> float:  # noqa: C901
        """Return the time of the boundary at which nobody runs, or the measured are through."""
        while replica.own_left:
            then = -1.0
            if not replica.prefilling:
                most = NO_LIMIT if look is None else look()
                if not line:
                    if not members:
                        return now
                    then = decode(now, most, False)  # noqa: FBT003
                elif len(line) == 1:
                    then = prompt(now)
            if then < 0.0:
                replica.now_s = now
                preempted = fill(replica)
                most, replica.horizon = replica.horizon or NO_LIMIT, 0
                if replica.prefilling:
                    then = chunks(now)
                elif members:
                    then = decode(now, 1 if preempted else most, True)  # noqa: FBT003
                else:
                    return now
            now, gone = then, replica.passes
            while ends and ends[0][0] <= gone:
                _, serial, sequence = heappop(ends)
                if sequence.serial == serial and sequence.joined >= 0:  # else preempted since
                    phase_ended(sequence, now)
            while feed.next_s < now:
                take_next(feed)
        return now

    return passes


def _decode_of(replica: Replica, line: Line) -> _Decode:
    batch, feed, pool, log = replica.batch, replica.feed, replica.pool, replica.log
    drafter, index, row = replica.pricer.drafter, replica.index, LEAP.pack
    members, size = batch.members, pool.shape.block_tokens
    tokens = inf if isinstance(pool, ReservingPool) else pool.plain_tokens
    late = replica.note_passes if isinstance(replica, HabitualReplica) else None
    line_up, ends, watchful = line_of(replica), batch.ends, replica.scheduler.watchful

    def decode(now: float, most: int, asked: bool) -> float:  # noqa: FBT001
        """Leap until a phase ends, KV runs short or a request comes that may be admitted."""
        count, held, passes = len(members), batch.held, replica.passes
        room = tokens - held - count * size
        if room < 0 and not asked:
            return -1.0
        positions, logits, read = batch.positions, batch.logit_positions, batch.read
        growth, pairs, pairs_growth = batch.growth, batch.pairs, batch.pairs_growth
        first_s, slope_s, limit = line(count, positions, logits, read, pairs, growth, pairs_growth)
        draft_s = draft_slope_s = 0.0
        if drafter is not None:
            draft_s, draft_slope_s, crossing = drafter.line_of(count, read, growth)
            first_s, slope_s = first_s + draft_s, slope_s + draft_slope_s
            limit = crossing if crossing < limit else limit  # noqa: FURB136  # hot
        end, serial, sequence = ends[0]
        if sequence.serial != serial or sequence.joined < 0:  # it was preempted since
            end = batch.next_breakpoint()
        ahead = end - passes
        if ahead > limit:  # noqa: PLR1730  # hot
            ahead = limit
        if ahead > most:  # noqa: PLR1730
            ahead = most
        if growth * ahead > room and ahead > 1:
            ahead = pool.passes_that_fit(batch, passes, ahead)
        duration_s = ahead * first_s + slope_s * (ahead * (ahead - 1) / 2)
        coming_s = feed.next_s - now
        if coming_s < duration_s and ahead > 1 and (watchful or not line_up):
            ahead, duration_s = cut_at(first_s, slope_s, coming_s, ahead)
        log.leaps += row(
            index, now, first_s, slope_s, ahead, count, positions, logits, read,
            growth, pairs, pairs_growth, held, 0.0, draft_s, draft_slope_s,
        )  # fmt: skip
        if late is not None:
            late(now, first_s, slope_s, ahead, now + duration_s)
        grown = growth * ahead
        batch.read, batch.held = read + grown, held + grown
        batch.pairs = pairs + pairs_growth * ahead
        replica.passes = passes + ahead
        return now + duration_s

    return decode
