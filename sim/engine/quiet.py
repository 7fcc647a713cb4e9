"""The usual boundaries of the usual replica, one after the other in a tight loop.

Usual is a replica of one lane that knows its arrivals, serves first come, first served, with
chunked prefill, and has KV to spare. Then two kinds of passes make up nearly all of a run: a batch
that only decodes, until a request ends or comes, and one pass that takes one whole new prompt
along. `Replica` can do both, and all else, step by step: here they are done at once, to the same
bit (a test sees to it), and whatever is not so simple is left to it.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop

from sim.engine.kv_pool import KvPool
from sim.engine.log import LEAP
from sim.engine.pricing import Leap, Pricer, cut_at
from sim.engine.replica import Replica
from sim.engine.schedulers import ChunkedPrefill

_Pass = Callable[[float], float]
"""From the time at which passes begin to that at which they end, s; -1 where they are not simple
enough."""


def quiet_passes(replica: Replica) -> _Pass | None:
    """Return what takes a replica from a boundary to the next one that is out of the ordinary.

    None where there is no such thing: the replica has habits, rules, a policy or other layers.
    """
    scheduler, pool, pricer = replica.scheduler, replica.pool, replica.pricer
    usual = (
        type(replica) is Replica
        and type(scheduler) is ChunkedPrefill
        and type(pool) is KvPool
        and type(pricer) is Pricer
        and isinstance(replica.waiting, deque)
        and replica.leaping
        and replica.policy is None
        and scheduler.rules is None
        and pool.plain_tokens >= 0
        and pricer.quick is not None
    )
    return _passes_of(replica, _decode_of(replica), _prompt_of(replica)) if usual else None


def _passes_of(replica: Replica, decode: _Pass, prompt: _Pass) -> _Pass:
    batch, feed, waiting = replica.batch, replica.feed, replica.waiting
    ends, members, take_next = batch.ends, batch.members, replica.take_next
    phase_ended = replica.phase_ended

    def passes(now: float) -> float:
        """Return the time of the next boundary at which the replica must decide by itself."""
        while replica.own_left and not replica.prefilling:
            if waiting:
                then = prompt(now) if len(waiting) == 1 else -1.0
            else:
                then = decode(now) if members else -1.0
            if then < 0.0:
                break
            now, gone = then, replica.passes
            while ends and ends[0][0] <= gone:
                _, serial, sequence = heappop(ends)
                if sequence.serial == serial and sequence.joined >= 0:  # else preempted since
                    phase_ended(sequence, now)
            while feed.next_s < now:
                take_next(feed)
        return now

    return passes


def _decode_of(replica: Replica) -> _Pass:
    batch, feed, pool, log = replica.batch, replica.feed, replica.pool, replica.log
    pricer, leap, index, row = replica.pricer, Leap(0), replica.index, LEAP.pack
    line = pricer.quick.line if pricer.quick and pricer.drafter is None else None
    members, tokens, size = batch.members, pool.plain_tokens, pool.shape.block_tokens

    def decode(now: float) -> float:
        """Leap until a phase ends, KV runs short or a request comes."""
        count, held, passes = len(members), batch.held, replica.passes
        room = tokens - held - count * size
        if room < 0:
            return -1.0
        positions, logits, read = batch.positions, batch.logit_positions, batch.read
        growth, pairs, pairs_growth = batch.growth, batch.pairs, batch.pairs_growth
        if line is not None:
            first_s, slope_s, limit = line(
                count, positions, logits, read, pairs, growth, pairs_growth
            )
            draft_s = draft_slope_s = 0.0
        else:
            pricer.decode(batch, leap)
            first_s, slope_s, limit = leap.first_s, leap.slope_s, leap.limit
            draft_s, draft_slope_s = leap.draft_s, leap.draft_slope_s
        ahead = batch.next_breakpoint() - passes
        ahead = ahead if ahead < limit else limit  # noqa: FURB136  # hot
        if growth * ahead > room:
            ahead = pool.passes_that_fit(batch, passes, ahead)
        duration_s = ahead * first_s + slope_s * (ahead * (ahead - 1) / 2)
        coming_s = feed.next_s - now
        if coming_s < duration_s and ahead > 1:
            ahead, duration_s = cut_at(first_s, slope_s, coming_s, ahead)
        log.leaps += row(
            index, now, first_s, slope_s, ahead, count, positions, logits, read,
            growth, pairs, pairs_growth, held, 0.0, draft_s, draft_slope_s,
        )  # fmt: skip
        grown = growth * ahead
        batch.read, batch.held = read + grown, held + grown
        batch.pairs = pairs + pairs_growth * ahead
        replica.passes = passes + ahead
        return now + duration_s

    return decode


def _prompt_of(replica: Replica) -> _Pass:
    batch, pool, log, waiting = replica.batch, replica.pool, replica.log, replica.waiting
    pricer, leap, index, row = replica.pricer, Leap(0), replica.index, LEAP.pack
    mixed = pricer.quick.mixed if pricer.quick and pricer.drafter is None else None
    members, scheduler, tokens = batch.members, replica.scheduler, pool.plain_tokens
    size, most, budget = (
        pool.shape.block_tokens,
        scheduler.max_sequences,
        scheduler.max_batched_tokens,
    )

    def prompt(now: float) -> float:
        """Take the whole prompt of a new request along, if there is room for all of it."""
        head, count, positions = waiting[0], len(members), batch.positions
        chunk, phase, held = head.target, head.phase, batch.held
        coming = positions + (phase.positions if phase else 0)
        if (
            not chunk
            or head.preemptions
            or count >= most
            or positions + chunk > budget
            or coming > budget
            or held + chunk + (count + 1) * size > tokens  # the last block may not be full
        ):
            return -1.0
        replica.now_s = now
        replica.admit(chunk)
        logits, read, growth = batch.logit_positions, batch.read, batch.growth
        pairs, pairs_growth = batch.pairs, batch.pairs_growth
        prompt_pairs = chunk * (chunk + 1) / 2
        if mixed is not None:
            pass_s, prompt_s, decode_s = mixed(
                count, positions, logits, read, pairs, 1, chunk, chunk, prompt_pairs
            )
            prefill_s, draft_s = pass_s * prompt_s / (prompt_s + decode_s), 0.0
        else:
            pricer.mixed(batch, replica.prefilling, leap)
            pass_s, prefill_s, draft_s = leap.first_s, leap.prefill_s, leap.draft_s
        log.leaps += row(
            index, now, pass_s, 0.0, 1, count + 1, positions + chunk, logits + 1, read + chunk,
            growth, pairs + prompt_pairs, pairs_growth, held + chunk, prefill_s, draft_s, 0.0,
        )  # fmt: skip
        batch.read, batch.held, batch.pairs = read + growth, held + growth, pairs + pairs_growth
        replica.passes += 1
        now += pass_s
        replica.advance_prompts(now)
        return now

    return prompt
