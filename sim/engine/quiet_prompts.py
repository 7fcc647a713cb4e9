"""The usual boundaries at which prompts are computed: of `quiet`, which see."""

from collections.abc import Callable
from math import inf

from sim.cost.quick import Mixed
from sim.engine.habitual import HabitualReplica
from sim.engine.kv_pool import ReservingPool
from sim.engine.log import LEAP
from sim.engine.pricing import billed_to_input, chunks_of
from sim.engine.queues import PickUpQueue, Queue
from sim.engine.replica import Replica

Pass = Callable[[float], float]
"""From the time at which passes begin to that at which they end, s; -1 where they are not simple
enough."""
_Mixed = Callable[[float, int, int, int, float, int, int], float]
"""The same for a pass that holds what `chunks_of` returns."""


def line_of(replica: Replica) -> Queue:
    """Return those who wait and were seen: they may be admitted, in their order."""
    waiting = replica.waiting
    return waiting.seen if isinstance(waiting, PickUpQueue) else waiting


def chunks_of_prompts(replica: Replica, mixed: _Mixed) -> Pass:
    """Return the pass of all prompts that are being computed."""

    def chunks(now: float) -> float:
        """Let the chunks of prompts go by that the scheduler has set."""
        return mixed(now, *chunks_of(replica.prefilling))

    return chunks


def whole_prompt(replica: Replica, mixed: _Mixed) -> Pass:
    """Return the pass of one new request, whose prompt goes in as a whole."""
    batch, pool, line, scheduler = replica.batch, replica.pool, line_of(replica), replica.scheduler
    most, budget = scheduler.max_sequences, scheduler.max_batched_tokens
    members, size, reserves = batch.members, pool.shape.block_tokens, type(pool) is ReservingPool
    tokens, separate = inf if reserves else pool.plain_tokens, scheduler.separate

    def prompt(now: float) -> float:
        """Take the whole prompt of a new request along, if there is room for all of it."""
        head, count, positions = line[0], len(members), batch.positions
        chunk, phase = head.target, head.phase
        coming = positions + (phase.positions if phase else 0)
        if (
            not chunk
            or head.preemptions
            or count >= most
            or (chunk if separate else positions + chunk) > budget
            or coming > budget
            or batch.held + chunk + (count + 1) * size > tokens  # the last block may not be full
            or (reserves and pool.blocks_of(head, chunk) > pool.least_free(batch))
        ):
            return -1.0
        replica.now_s = now
        replica.admit(chunk)
        return mixed(now, 1, chunk, chunk, chunk * (chunk + 1) / 2, 0, chunk)

    return prompt


def mixed_of(replica: Replica, price: Mixed) -> _Mixed:
    """Return a pass with prompts, beside the batch or while it stands still."""
    batch, log, drafter = replica.beside, replica.log, replica.pricer.drafter
    members, index, row = batch.members, replica.index, LEAP.pack
    standing, paused = replica.scheduler.separate, log.habits.paused
    late = replica.note_passes if isinstance(replica, HabitualReplica) else None

    def mixed(  # noqa: PLR0917  # called per pass: positional is faster
        now: float, prompts: int, tokens: int, context: int, own: float, again: int, kept: int
    ) -> float:
        """Let a pass with chunks go by; they make `own` pairs and keep so many KV tokens."""
        count, positions, logits = len(members), batch.positions, batch.logit_positions
        read, held, growth = batch.read, batch.held, batch.growth
        pairs, pairs_growth = batch.pairs, batch.pairs_growth
        pass_s, prompt_s, decode_s = price(
            count, positions, logits, read, pairs, prompts, tokens, context, own
        )
        draft_s = 0.0
        if drafter is not None:
            chunks = prompts, tokens, context, own
            drafts = drafter.mixed(count, read, (), chunks, (), prompt_s)
            draft_s, prompt_s, decode_s = drafts[2], prompt_s + drafts[0], decode_s + drafts[1]
            pass_s += draft_s
        prefill_s = billed_to_input(pass_s, prompt_s, decode_s, again, tokens)
        log.leaps += row(
            index, now, pass_s, 0.0, 1, count + prompts, positions + tokens, logits + prompts,
            read + context, growth, pairs + own, pairs_growth, held + kept, prefill_s,
            draft_s, 0.0,
        )  # fmt: skip
        then = now + pass_s
        if late is not None:
            late(now, pass_s, 0.0, 1, then)
        if standing:
            paused.append(len(log.leaps) // LEAP.size - 1)
            replica.paused += 1
        else:
            batch.read, batch.held = read + growth, held + growth
            batch.pairs = pairs + pairs_growth
            replica.passes += 1
        replica.advance_prompts(then)
        return then

    return mixed
