"""One replica: a queue, a batch, a KV pool, and the passes that go by.

All happens at pass boundaries. Between two of them the replica *leaps*: it knows when the next
request can finish, run out of KV or be admitted, and skips the passes until then in one event. An
arrival that could be admitted ends a leap with the pass in flight.
"""

from collections.abc import Callable

import simpy

from sim.engine.feed import Feed
from sim.engine.kv_pool import KvPool
from sim.engine.log import LEAP, Log
from sim.engine.pricing import Leap, Pricer
from sim.engine.schedulers import Scheduler
from sim.engine.sequence import Sequence
from sim.engine.state import ReplicaState

_LEAP_ROW = LEAP.pack


class Replica(ReplicaState):
    """A state and its reactions to arrivals and pass boundaries."""

    def __init__(
        self,
        env: simpy.Environment,
        index: int,
        *,
        pricer: Pricer,
        pool: KvPool,
        scheduler: Scheduler,
        log: Log,
        feed: Feed,
        accept: Callable[[int, int, float], Sequence | None],
        on_finish: Callable[[Sequence], None],
        leap: bool = True,
    ) -> None:
        super().__init__(index, pool, log, pricer.cost.reaches)
        self.env, self.pricer, self.scheduler, self.feed = env, pricer, scheduler, feed
        self.accept, self.on_finish, self.leaping = accept, on_finish, leap
        self._pending: simpy.Timeout | None = None
        """The boundary or awakening to come; None while idle with nothing in sight."""
        self._ahead = 0
        """Passes in the leap in flight."""
        self._start_s = 0.0
        self._leap = Leap(len(pricer.cost.reaches))
        self._open = False
        """An arrival may cut the leap in flight."""
        self._beside = self.batch
        """The decoding sequences that prompts share their passes with."""
        self._await_feed()

    # -- arrivals -----------------------------------------------------------------------------

    def submit(self, row: int, user: int, at_s: float) -> None:
        """Queue a request; it is seen at the end of the pass in flight, if there is one."""
        sequence = self.accept(row, user, at_s)
        if sequence is None:
            return
        self.waiting.append(sequence)
        if self._pending is None:  # requests that arrive at the same instant start together
            self._schedule(0.0, self._wake)
        elif self._open:
            self._cut()

    def _await_feed(self) -> None:
        """Sleep until the next arrival that is known beforehand, if there is one."""
        self._pending, self._open = None, False
        if self.feed.next_s < float("inf"):
            self._schedule(max(0.0, self.feed.next_s - self.env.now), self._wake)

    def _wake(self, _: simpy.Event) -> None:
        feed, first_s = self.feed, self.feed.next_s
        while feed.next_s == first_s < float("inf"):
            self._take_next(feed)
        self._begin(self.env.now)

    def _take_next(self, feed: Feed) -> None:
        row, at_s = feed.take()
        sequence = self.accept(row, -1, at_s)
        if sequence is not None:
            self.waiting.append(sequence)

    # -- passes -------------------------------------------------------------------------------

    def _boundary(self, _: simpy.Event) -> None:
        """Account for the passes that have gone by, and start the next."""
        now, batch = self.env.now, self.batch
        self._log_leap()
        self.passes = passes = self.passes + self._ahead
        batch.advance(self._ahead)
        if self.prefilling:
            self._advance_prompts(now)
        if batch.reaches:
            batch.cross(passes)
        ends = batch.ends
        while ends and ends[0][0] <= passes:
            ended = batch.pop_ended(passes)
            if ended is not None:
                self._phase_ended(ended, now)
        feed = self.feed
        while feed.next_s < now:
            self._take_next(feed)
        self._begin(now)

    def _begin(self, now: float) -> None:
        """Decide what goes into the next pass and start it, or fall idle."""
        self.now_s = now
        batch, leap, preempted, ahead = self.batch, self._leap, False, 1
        if self.waiting or self.prefilling or self.pool.room(batch) < 0:
            preempted = self.scheduler.fill(self)
        if not self.running:
            self._await_feed()
            return
        if not self.leaping:
            batch.recount(self.passes)
        if self.prefilling:
            self.pricer.mixed(self._beside, self.prefilling, leap)
        else:
            self.pricer.decode(batch, leap)
            if self.leaping and not preempted:
                ahead = batch.next_breakpoint() - self.passes
                ahead = min(ahead, leap.limit)
                ahead = self.pool.passes_that_fit(batch, self.passes, ahead)
        if self.horizon or self.extra_s:
            ahead = self._as_asked(ahead)
        duration_s, self._open = leap.first_s, False
        if ahead > 1:
            duration_s = leap.after(ahead)
            if not self.waiting or self.scheduler.watchful:
                self._open = True
                coming_s = self.feed.next_s - now
                if coming_s < duration_s:
                    ahead = leap.pass_at(coming_s, ahead)
                    duration_s = leap.after(ahead)
        self._ahead, self._start_s = ahead, now
        self._schedule(duration_s, self._boundary)

    def _as_asked(self, ahead: int) -> int:
        """Count the swaps into the coming pass; return how many passes the scheduler allows."""
        self._leap.first_s += self.extra_s
        most, self.horizon, self.extra_s = self.horizon or ahead, 0, 0.0
        return min(ahead, most)

    def _advance_prompts(self, now: float) -> None:
        """Count the chunks of the pass that has ended; those that are through go on to decode."""
        going_on: list[Sequence] = []
        ready: list[Sequence] = []
        for sequence in self.prefilling:
            sequence.computed += sequence.chunk
            sequence.chunk = 0
            (ready if sequence.computed >= sequence.target else going_on).append(sequence)
        self.prefilling = going_on
        for sequence in ready:
            self._prefilled(sequence, now)

    def _prefilled(self, sequence: Sequence, now: float) -> None:
        """Start, or go on with, decoding; a prefill that yields a token shows it now."""
        phase = sequence.phase
        if sequence.plan.prefill_yields:
            if sequence.preempted_s < 0:
                self.log.first_token_s[sequence.row] = now
            elif phase is not None:  # the recomputation did the work of one pass
                sequence.done += 1
                sequence.kv += phase.kv_growth
                self.log.pauses.append((sequence.row, now - sequence.preempted_s))
        if phase is None:
            self._finish(sequence, now)
        elif sequence.done >= phase.passes:
            self._next_phase(sequence, now)
        else:
            self.batch.join(sequence, phase, self.passes)

    def _phase_ended(self, sequence: Sequence, now: float) -> None:
        phase = sequence.phase
        if phase is None:  # pragma: no cover - what ends has a phase
            raise AssertionError(sequence.row)
        self.log_stint(sequence, phase)
        self.batch.leave(sequence, phase, self.passes)
        if sequence.phase_index + 1 < len(sequence.plan.phases):
            sequence.kv = sequence.kv_at(self.passes)
        sequence.joined = -1
        self._next_phase(sequence, now)

    def _next_phase(self, sequence: Sequence, now: float) -> None:
        """Go on with the next phase of the plan, or finish."""
        phases = sequence.plan.phases
        sequence.phase_index += 1
        sequence.done = 0
        if sequence.phase_index == len(phases):
            self._finish(sequence, now)
            return
        sequence.phase = phase = phases[sequence.phase_index]
        self.batch.join(sequence, phase, self.passes)

    def _finish(self, sequence: Sequence, now: float) -> None:
        del self.running[sequence.serial]
        self.log.finished(sequence.row, self.index, now)
        self.on_finish(sequence)

    # -- time ---------------------------------------------------------------------------------

    def _schedule(self, delay_s: float, callback: Callable[[simpy.Event], None]) -> None:
        self._pending = pending = simpy.Timeout(self.env, delay_s)
        if pending.callbacks is not None:
            pending.callbacks.append(callback)

    def _cut(self) -> None:
        """End the leap in flight with the pass in flight."""
        leap, pending = self._leap, self._pending
        self._open = False
        done = leap.pass_at(self.env.now - self._start_s, self._ahead)
        if done < self._ahead and pending is not None and pending.callbacks is not None:
            pending.callbacks.clear()
            self._ahead = done
            self._schedule(self._start_s + leap.after(done) - self.env.now, self._boundary)

    def _log_leap(self) -> None:
        """Write down the leap that has ended; the batch is still as it was at its start."""
        leap, batch = self._leap, self.batch
        prompts = 0
        for sequence in self.prefilling:
            prompts += sequence.computed + sequence.chunk
        self.log.leaps += _LEAP_ROW(
            self.index,
            self._start_s,
            leap.first_s,
            leap.slope_s,
            self._ahead,
            len(batch.members) + leap.prefill_sequences,
            batch.positions + leap.prefill_tokens,
            batch.logit_positions + leap.prefill_sequences,
            batch.read + leap.prefill_context,
            batch.growth,
            batch.pairs + leap.prefill_pairs,
            batch.pairs_growth,
            batch.held + prompts,
            leap.prefill_s,
            leap.draft_s,
            leap.draft_slope_s,
        )
        if batch.reaches:
            for reach, (read, pairs) in zip(batch.reaches, leap.prefill_capped, strict=True):
                own_read, own_pairs, growth, pairs_growth = reach.state
                self.log.reach(own_read + read, growth, own_pairs + pairs, pairs_growth)
