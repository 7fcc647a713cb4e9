"""One replica: a queue, a batch, a KV pool, and the passes that go by.

All happens at pass boundaries. Between two of them the replica *leaps*: it knows when the next request can
finish, run out of KV or be admitted, and skips the passes until then in one event. An arrival that could be
admitted cuts a leap short at the end of the pass in flight.
"""

from collections.abc import Callable

import simpy

from sim.engine.kv_pool import KvPool
from sim.engine.log import Log
from sim.engine.pricing import Priced, Pricer
from sim.engine.schedulers import ChunkedPrefill
from sim.engine.sequence import Sequence
from sim.engine.state import ReplicaState


class Replica(ReplicaState):
    """A state and its reactions to arrivals and pass boundaries."""

    def __init__(
        self,
        env: simpy.Environment,
        index: int,
        *,
        pricer: Pricer,
        pool: KvPool,
        scheduler: ChunkedPrefill,
        log: Log,
        on_finish: Callable[[Sequence], None],
        leap: bool = True,
    ) -> None:
        super().__init__(index, pool, log)
        self.env, self.pricer, self.scheduler = env, pricer, scheduler
        self.on_finish, self.leap = on_finish, leap
        self._pending: simpy.Timeout | None = None
        self._ahead = 0
        """Passes in the leap in flight; 0 while idle or waking."""
        self._start_s = 0.0
        self._priced: Priced | None = None
        self._open = False
        """An arrival may cut the leap in flight."""

    # -- what the world calls -----------------------------------------------------------------

    def submit(self, sequence: Sequence) -> None:
        """Queue a request; it is seen at the end of the pass in flight, or at once if there is none."""
        self.waiting.append(sequence)
        if self._pending is None:
            self._schedule(
                0.0, self._wake
            )  # requests that arrive at the same instant start together
        elif self._open:
            self._cut()

    # -- passes -------------------------------------------------------------------------------

    def _wake(self, _: simpy.Event) -> None:
        self._begin()

    def _boundary(self, _: simpy.Event) -> None:
        self._complete()
        self._begin()

    def _begin(self) -> None:
        """Decide what goes into the next pass and start it, or fall idle."""
        self.log.boundaries += 1
        self.now_s, batch = self.env.now, self.batch
        preempted = self.scheduler.fill(self)
        if not self.running:
            self._pending, self._ahead, self._open = None, 0, False
            return
        if not self.leap:
            batch.recount(self.passes)
        if self.prefilling:
            priced, ahead = self.pricer.mixed(batch, self.prefilling), 1
        else:
            priced, ahead = self.pricer.leap(batch), 1
            if self.leap and not preempted:
                ahead = min(batch.next_end() - self.passes, priced.passes)
                ahead = self.pool.passes_that_fit(batch, self.passes, ahead)
        self._priced, self._ahead, self._start_s = priced, ahead, self.now_s
        self._open = ahead > 1 and not self.waiting
        self._schedule(_after(priced, ahead), self._boundary)

    def _complete(self) -> None:
        """Account for the passes that have gone by; first tokens and finishes happen here."""
        now, ahead, batch = self.env.now, self._ahead, self.batch
        self._log_leap(ahead)
        self.passes += ahead
        batch.advance(ahead)
        if self.prefilling:
            for sequence in self.prefilling:
                sequence.computed += sequence.chunk
                sequence.chunk = 0
            ready = [s for s in self.prefilling if s.computed >= s.target]
            if ready:
                self.prefilling = [s for s in self.prefilling if s.computed < s.target]
                for sequence in ready:
                    self._prefilled(sequence, now)
        while (ended := batch.pop_ended(self.passes)) is not None:
            self.log_stint(ended)
            batch.leave(ended, self.passes)
            self._next_phase(ended, now)

    def _prefilled(self, sequence: Sequence, now: float) -> None:
        """Start, or go on with, decoding; a prefill that yields a token shows it now."""
        resumed = sequence.preempted_s >= 0
        if sequence.plan.prefill_yields:
            if not resumed:
                self.log.first_token_s[sequence.row] = now
            elif sequence.phase is not None:
                sequence.done += 1
                sequence.kv += sequence.phase.kv_growth
                self.log.pauses.append((sequence.row, now - sequence.preempted_s))
        if sequence.phase is None:
            self._finish(sequence, now)
        elif sequence.done >= sequence.phase.passes:
            self._next_phase(sequence, now)
        else:
            self.batch.join(sequence, self.passes)

    def _next_phase(self, sequence: Sequence, now: float) -> None:
        """Go on with the next phase of the plan, or finish."""
        phases = sequence.plan.phases
        if sequence.joined >= 0:
            sequence.kv = sequence.kv_at(self.passes)
            sequence.joined = -1
        sequence.phase_index += 1
        sequence.done = 0
        if sequence.phase_index == len(phases):
            self._finish(sequence, now)
            return
        sequence.phase = phases[sequence.phase_index]
        self.batch.join(sequence, self.passes)

    def _finish(self, sequence: Sequence, now: float) -> None:
        del self.running[sequence.serial]
        self.log.finished(sequence.row, self.index, now)
        self.on_finish(sequence)

    # -- time ---------------------------------------------------------------------------------

    def _schedule(self, delay_s: float, callback: Callable[[simpy.Event], None]) -> None:
        self._pending = simpy.Timeout(self.env, delay_s)
        self._pending.callbacks.append(callback)

    def _cut(self) -> None:
        """End the leap in flight with the pass in flight."""
        priced, pending = self._priced, self._pending
        if priced is None or pending is None:  # pragma: no cover - only a leap in flight is open
            raise AssertionError(self.index)
        self._open = False
        done = passes_until(priced, self.env.now - self._start_s, self._ahead)
        if done < self._ahead:
            pending.callbacks.clear()
            self._ahead = done
            self._schedule(self._start_s + _after(priced, done) - self.env.now, self._boundary)

    def _log_leap(self, passes: int) -> None:
        priced, batch = self._priced, self.batch
        if priced is None:  # pragma: no cover - a boundary ends a leap
            raise AssertionError(self.index)
        load, pairs_of = priced.load, passes * (passes - 1) / 2
        decodes = load.sequences > 0
        self.log.leaps.extend(
            (
                self.index,
                self._start_s,
                priced.first_s,
                priced.slope_s,
                passes,
                load.sequences + load.prefill_sequences,
                passes * (load.positions + load.prefill_tokens),
                passes * (load.logit_positions + load.prefill_sequences),
                passes * (load.context_tokens + load.prefill_context_tokens)
                + (pairs_of * batch.context_growth if decodes else 0.0),
                passes * (load.pairs + load.prefill_pairs)
                + (pairs_of * batch.pairs_growth if decodes else 0.0),
                load.context_tokens
                + passes * batch.context_growth
                + sum(s.computed + s.chunk for s in self.prefilling),
                priced.prefill_s,
                passes * priced.draft_s + pairs_of * priced.draft_slope_s,
            )
        )


def _after(priced: Priced, passes: int) -> float:
    """Seconds from the start of a leap to the end of its pass number `passes`."""
    return passes * priced.first_s + priced.slope_s * (passes * (passes - 1) / 2)


def passes_until(priced: Priced, elapsed_s: float, most: int) -> int:
    """Return the number of the pass in flight (from 1) after `elapsed_s` of a leap of `most` passes."""
    if priced.slope_s == 0.0:
        guess = int(elapsed_s / priced.first_s)
    else:  # the root of first n + slope n (n - 1) / 2 = elapsed
        half = priced.first_s / priced.slope_s - 0.5
        guess = int((half * half + 2 * elapsed_s / priced.slope_s) ** 0.5 - half)
    number = max(1, min(most, guess))
    while number > 1 and _after(priced, number - 1) > elapsed_s:
        number -= 1
    while number < most and _after(priced, number) <= elapsed_s:
        number += 1
    return number
