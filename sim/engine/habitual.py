"""A replica with habits: passes of prompts only, swapped KV, tokens that users see late."""

from collections.abc import Collection
from math import nan
from typing import Any

import simpy

from sim.decoding import Phase
from sim.engine.batch import DecodeBatch
from sim.engine.habits import Habits
from sim.engine.handing_out import HandedOut, chunks_per_pass
from sim.engine.log import LEAP
from sim.engine.replica import Replica
from sim.engine.sequence import Sequence


class HabitualReplica(Replica):
    """As `Replica`, and keeps when each token is seen rather than made.

    Decode passes are counted in `passes`, those of prompts only in `paused`: while the batch
    stands still, nothing in it has to be touched.

    The front end is one server: a pass hands it a piece of work at its end, and its tokens are
    seen when that is done. With constant work w a pass, and passes that do not get shorter, the
    work left after pass k is w + max(0, (k-1) w - T2..Tk, work before + (k-1) w - T1..Tk).
    """

    def __init__(self, *args: Any, habits: Habits, **settings: Any) -> None:  # noqa: ANN401
        self.habits = habits
        self.delay_s = 0.0
        """From the last boundary until its tokens are seen: the work of the front end then."""
        self._boundary_s = 0.0
        self._decoded_s = nan
        """When the tokens of the last decode pass were seen."""
        super().__init__(*args, **settings)
        self._handed_out = HandedOut(habits, self.batch.members)
        if habits.front_end_s_per_chunk:
            self.batch.handed_out = self._handed_out
        if self.scheduler.separate:
            self.beside = Nobody(self.batch, self.pricer.cost.reaches)

    # -- passes -------------------------------------------------------------------------------

    def _begin(self, now: float) -> float:
        duration_s = super()._begin(now)
        if self.prefilling and self.scheduler.separate:
            self.log.habits.paused.append(self.in_flight // LEAP.size)
        return duration_s

    def note_passes(
        self, start_s: float, first_s: float, slope_s: float, passes: int, now: float
    ) -> None:
        """See to what users see of the passes written down last, which did not begin here."""
        leap = self._leap
        leap.start_s, leap.first_s, leap.slope_s, leap.passes = start_s, first_s, slope_s, passes
        self.in_flight = len(self.log.leaps) - LEAP.size
        self._show(now)

    def _show(self, now: float) -> None:
        """Hand out the tokens of the passes that end now, and note when they are seen."""
        if self.habits.front_end_s_per_chunk:
            self._hand_out(now)
        if not (self.prefilling and self.scheduler.separate):
            self._decoded_s = now + self.delay_s

    def _pass_by(self, now: float) -> None:
        self._show(now)
        if not (self.prefilling and self.scheduler.separate):
            super()._pass_by(now)
            return
        self.paused += 1
        self.advance_prompts(now)
        feed = self.feed
        while feed.next_s < now:
            self.take_next(feed)

    # -- what users see -----------------------------------------------------------------------

    def _hand_out(self, now: float) -> None:
        """Let the front end work off the passes that have gone by, and take in their tokens."""
        leap, passes, habits = self._leap, self._leap.passes, self.habits
        chunk_s, standing = habits.front_end_s_per_chunk, self.scheduler.separate
        before_s = max(0.0, self.delay_s - (leap.start_s - self._boundary_s))
        work_s = prompts_s = 0.0
        if not (self.prefilling and standing):
            work_s = self._handed_out.total_s
        for sequence in self.prefilling:
            if sequence.computed + sequence.chunk >= sequence.target:
                prompts_s += self._chunks_of_prefill(sequence) * chunk_s
        total_s, later_s = leap.after(passes), (passes - 1) * work_s
        left_s = max(0.0, later_s - (total_s - leap.first_s), before_s + later_s - total_s)
        self.delay_s = left_s + work_s + prompts_s
        self._boundary_s = now
        number = self.in_flight // LEAP.size
        self.log.habits.delays.extend((number, before_s, work_s, prompts_s))

    def _chunks_of_prefill(self, sequence: Sequence) -> float:
        """Return the chunks that the end of a prefill makes; held back, it is a part of one."""
        plan, phase = sequence.plan, sequence.phase
        if not plan.prefill_yields:
            return 0.0
        first = sequence.preempted_s < 0
        if phase is None or (first and not self.habits.holds_first(plan)):
            return 1.0
        return chunks_per_pass(self.habits, phase)

    def _prefilled(self, sequence: Sequence, now: float) -> None:
        """Start, or go on with, decoding; a prefill that yields a token shows it, or holds it."""
        phase, plan, seen_s = sequence.phase, sequence.plan, now + self.delay_s
        if plan.prefill_yields:
            again = sequence.preempted_s >= 0 and phase is not None
            if again and phase is not None:  # the recomputation did the work of one pass
                sequence.done += 1
                sequence.kv += phase.kv_growth
            self._show_prefill(sequence, seen_s, again=again)
            sequence.since_s = seen_s
        if phase is None:
            self._finish(sequence, now)
        elif sequence.done >= phase.passes:
            self._next_phase(sequence, now)
        else:
            self.batch.join(sequence, phase, self.passes)

    def _show_prefill(self, sequence: Sequence, seen_s: float, *, again: bool) -> None:
        log, row, phase = self.log, sequence.row, sequence.phase
        every = 1 if phase is None else self.habits.chunk_passes(phase)
        # what a policy changes may go out pass by pass now, and in chunks later
        log.habits.by_chunk = self.policy is not None and self.habits.stream_interval_tokens > 1
        by_chunk = every > 1 or log.habits.by_chunk
        if not again:
            sequence.held_tokens = float(self.habits.holds_first(sequence.plan))
            if not sequence.held_tokens:
                log.first_token_s[row] = seen_s
                if by_chunk:
                    log.habits.shown.append((self.index, row, seen_s))
        elif not by_chunk:
            log.pauses.append((row, seen_s - sequence.preempted_s))
        elif phase is not None and (sequence.done + self._ahead(sequence, phase)) % every == 0:
            log.habits.shown.append((self.index, row, seen_s))

    def _ahead(self, sequence: Sequence, phase: Phase) -> int:
        return self.habits.passes_ahead(phase, sequence.held_tokens)

    def replan(self, sequence: Sequence, phase: Phase, rest: Phase) -> None:
        """Count the chunks anew of an answer; what it holds back goes out with the next one."""
        habits, held = self.habits, sequence.held_tokens
        done = sequence.done + self.passes - sequence.joined
        shown, holding = divmod(done + self._ahead(sequence, phase), habits.chunk_passes(phase))
        left = habits.phase_chunks(phase, held) - shown
        if habits.stream_interval_tokens > 1:
            each = phase.visible_tokens / phase.passes
            sequence.held_tokens = holding * each if shown else held + done * each
        more = habits.phase_chunks(rest, sequence.held_tokens) - left
        self.log.chunks[sequence.row] += more

    def preempt(self, sequence: Sequence, swap_s_per_block: float | None = None) -> None:
        """Send a running request back; its last token may have been seen before this boundary."""
        decoded = self.passes > sequence.joined >= 0
        super().preempt(sequence, swap_s_per_block)
        if decoded:
            sequence.since_s = self._decoded_s
        if sequence.preempted_s >= 0:
            sequence.preempted_s = sequence.since_s

    def log_stint(self, sequence: Sequence, phase: Phase) -> None:
        """Note a stint with its chunks as they are handed out, and when it really began."""
        first, log = sequence.joined, self.log
        if self.passes > first and phase.visible_tokens:
            every = self.habits.chunk_passes(phase)
            ahead = self._ahead(sequence, phase)
            log.stint(sequence.row, self.index, first, self.passes, every, sequence.done + ahead)
            log.habits.since_s.append(sequence.since_s)
            sequence.since_s = self._decoded_s

    def _next_phase(self, sequence: Sequence, now: float) -> None:
        """Go on with the next phase; what a chunk still lacks at the end is handed out anyway."""
        phase, seen_s = sequence.phase, now + self.delay_s
        sequence.since_s = seen_s
        if phase is not None and phase.visible_tokens:
            passes = phase.passes + self._ahead(sequence, phase)
            if passes % self.habits.chunk_passes(phase):
                self.log.habits.shown.append((self.index, sequence.row, seen_s))
        sequence.held_tokens = 0.0
        super()._next_phase(sequence, now)

    def _finish(self, sequence: Sequence, now: float) -> None:
        """Free the place now; the user has the answer when the front end is through with it."""
        row, user, seen_s = sequence.row, sequence.user, now + self.delay_s
        del self.running[sequence.serial]
        self.log.finished(row, self.index, seen_s)
        if seen_s == now or user < 0:  # in an open loop nobody acts on an answer
            if self.on_finish(row, user, seen_s) and self.own_left:
                self.own_left -= 1
            return
        seen = simpy.Timeout(self.env, seen_s - self.env.now)
        if seen.callbacks is not None:
            seen.callbacks.append(lambda _: self._answered(row, user, seen_s))

    def _answered(self, row: int, user: int, seen_s: float) -> None:
        self.on_finish(row, user, seen_s)


class Nobody(DecodeBatch):
    """The batch that prompts share a pass with where all who decode stand still."""

    __slots__ = ("_still",)

    def __init__(self, still: DecodeBatch, reaches: Collection[int]) -> None:
        self._still = still
        super().__init__(reaches)

    @property
    def held(self) -> float:
        """KV tokens that those hold who stand still."""
        return self._still.held

    @held.setter
    def held(self, _: float) -> None:
        """Nothing is held here."""
