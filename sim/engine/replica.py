"""One replica: a queue, a batch, a KV pool, and the passes that go by.

All happens at pass boundaries. Between two of them the replica *leaps*: it knows when the next
request can finish, run out of KV or be admitted, and skips the passes until then in one event. An
arrival that could be admitted ends a leap with the pass in flight.
"""

from collections.abc import Callable
from heapq import heappop
from math import inf

import simpy

from sim.engine.feed import Feed
from sim.engine.kv_pool import KvPool
from sim.engine.leap_log import log_decode, log_mixed
from sim.engine.log import Log
from sim.engine.observed import Observed
from sim.engine.pricing import Leap, Pricer
from sim.engine.schedulers import Scheduler
from sim.engine.sequence import Sequence


class Replica(Observed):
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
        own: int,
        accept: Callable[[int, int, float], Sequence | None],
        on_finish: Callable[[int, int, float], bool],
        leap: bool = True,
    ) -> None:
        super().__init__(index, pool, log, pricer.cost.reaches)
        self.env, self.pricer, self.scheduler, self.feed = env, pricer, scheduler, feed
        self.accept, self.on_finish, self.leaping = accept, on_finish, leap
        self._leap = Leap(len(pricer.cost.reaches))
        self._open = False
        """An arrival may cut the leap in flight."""
        self.own_left = own
        """Measured requests that are known to come here and have not left again."""
        self.in_flight = -1
        """Where in the log the leap in flight stands; -1 while idle."""
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
        self._pending, self._open, self.in_flight = None, False, -1
        if self.feed.next_s < inf:
            self._schedule(max(0.0, self.feed.next_s - self.env.now), self._wake)

    def _wake(self, _: simpy.Event) -> None:
        self._take_together()
        self._go_on(self.env.now)

    def _take_together(self) -> float:
        """Take the next arrivals, those of one instant, and return when that is, s."""
        feed, first_s = self.feed, self.feed.next_s
        while feed.next_s == first_s < inf:
            self.take_next(feed)
        return first_s

    # -- passes -------------------------------------------------------------------------------

    def _boundary(self, _: simpy.Event) -> None:
        self._pass_by(self.env.now)
        self._go_on(self.env.now)

    def _go_on(self, now: float) -> None:
        """Begin the next passes, or go through all that is left if the arrivals are known.

        Then nothing else can happen to this replica, and it need not wait for the others until
        its own measured requests are through.
        """
        while True:
            if self.quiet is not None:
                now = self.quiet(now)
            duration_s = self._begin(now)
            if duration_s >= 0.0:
                if not self.own_left:
                    self._schedule(now + duration_s - self.env.now, self._boundary)
                    return
                now += duration_s
                self._pass_by(now)
            elif self.own_left and self.feed.next_s < inf:
                now = self._take_together()
            else:
                self._await_feed()
                return

    def _pass_by(self, now: float) -> None:
        """Account for the passes of the leap that ends now, and see who arrived meanwhile."""
        batch, gone = self.batch, self._leap.passes
        self.passes = passes = self.passes + gone
        batch.advance(gone)
        if self.prefilling:
            self.advance_prompts(now)
        if batch.reaches:
            batch.cross(passes)
        ends = batch.ends
        while ends and ends[0][0] <= passes:
            _, serial, sequence = heappop(ends)
            if sequence.serial == serial and sequence.joined >= 0:  # else it was preempted since
                self.phase_ended(sequence, now)
        feed = self.feed
        while feed.next_s < now:
            self.take_next(feed)

    def _begin(self, now: float) -> float:
        """Decide what goes into the next passes; return how long they take, -1 where idle."""
        self.now_s = now
        batch, leap, preempted = self.batch, self._leap, False
        if self.policy is not None and batch.members:
            self.follow(self.policy, leap)
        if self.waiting or self.prefilling or self.pool.room(batch) < 0:
            preempted = self.scheduler.fill(self)
        if not self.running:
            return -1.0
        if not self.leaping:
            batch.recount(self.passes)
        leap.start_s, leap.passes, self._open = now, 1, False
        log, self.in_flight = self.log, len(self.log.leaps)
        if self.prefilling:
            self.pricer.mixed(self.beside, self.prefilling, leap)
            if self.extra_s:
                self.add_extra(leap)
            log_mixed(log, self.index, self.beside, leap)
            return leap.first_s
        self.pricer.decode(batch, leap)
        if self.extra_s:
            self.add_extra(leap)
        duration_s = leap.first_s
        if self.leaping and not preempted:
            duration_s = self._stretch(now)
        log_decode(log, self.index, batch, leap)
        return duration_s

    def _stretch(self, now: float) -> float:
        """Make the leap that decodes from `now` as long as nothing changes; return its time."""
        batch, leap = self.batch, self._leap
        ahead = min(batch.next_breakpoint() - self.passes, leap.limit)
        if self.horizon:
            ahead, self.horizon = min(ahead, self.horizon), 0
        if ahead > 1:  # the first pass fits
            ahead = self.pool.passes_that_fit(batch, self.passes, ahead)
        if ahead <= 1:
            return leap.first_s
        duration_s = leap.after(ahead)
        if self.scheduler.watchful or not self.waiting:
            self._open = True
            coming_s = self.feed.next_s - now
            if coming_s < duration_s:
                ahead, duration_s = leap.cut_at(coming_s, ahead)
        leap.passes = ahead
        return duration_s

    def advance_prompts(self, now: float) -> None:
        """Count the chunks of the pass that has ended; those that are through go on to decode."""
        prefilling = self.prefilling
        ready: list[Sequence] = []
        for sequence in prefilling:
            sequence.computed = computed = sequence.computed + sequence.chunk
            sequence.chunk = 0
            if computed >= sequence.target:
                ready.append(sequence)
        if len(ready) == len(prefilling):
            self.prefilling = []
        elif ready:
            self.prefilling = [each for each in prefilling if each.computed < each.target]
        for sequence in ready:
            self._prefilled(sequence, now)

    def _prefilled(self, sequence: Sequence, now: float) -> None:
        """Start, or go on with, decoding; a prefill that yields a token shows it now."""
        phase = sequence.phase
        if sequence.prefill_yields:
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

    def phase_ended(self, sequence: Sequence, now: float) -> None:
        """Let a sequence go on with its next phase, or finish."""
        phase = sequence.phase
        if phase is None:  # pragma: no cover - what ends has a phase
            raise AssertionError(sequence.row)
        self.log_stint(sequence, phase)
        self.batch.leave(sequence, phase, self.passes)
        if sequence.phase_index + 1 < len(sequence.phases):
            sequence.kv = sequence.kv_at(self.passes)
        sequence.joined = -1
        self._next_phase(sequence, now)

    def _next_phase(self, sequence: Sequence, now: float) -> None:
        """Go on with the next phase of the plan, or finish."""
        phases, place = sequence.phases, sequence.phase_index + 1
        sequence.phase_index, sequence.done = place, 0
        if place == len(phases):
            self._finish(sequence, now)
            return
        sequence.phase = phase = phases[place]
        self.batch.join(sequence, phase, self.passes)

    def _finish(self, sequence: Sequence, now: float) -> None:
        del self.running[sequence.serial]
        self.log.finished(sequence.row, self.index, now)
        if self.on_finish(sequence.row, sequence.user, now) and self.own_left:
            self.own_left -= 1

    def _cut(self) -> None:
        """End the leap in flight with the pass in flight."""
        leap, pending = self._leap, self._pending
        self._open = False
        done, ends_s = leap.cut_at(self.env.now - leap.start_s, leap.passes)
        if done < leap.passes and pending is not None and pending.callbacks is not None:
            pending.callbacks.clear()
            leap.passes = done
            self.log.shorten(self.in_flight, done)
            self._schedule(leap.start_s + ends_s - self.env.now, self._boundary)
