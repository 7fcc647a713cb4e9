"""Replicas and lanes that keep the KV of prompts for later requests."""

from sim.engine.habitual import HabitualReplica
from sim.engine.habitual_lane import HabitualLane
from sim.engine.lane import Lane
from sim.engine.replica import Replica
from sim.engine.sequence import Sequence
from sim.engine.shared_pool import SharedPool, SharingBatch


class Sharing(Replica):
    """Tells its pool who comes, goes and computes what.

    Blocks are found by requests that are admitted after the pass that computed them. Idle blocks
    whose room a pass has needed are gone when it ends.
    """

    pool: SharedPool
    batch_kind = SharingBatch

    def admit(self, chunk: int) -> None:
        """Take the head of the queue in, with what it has found."""
        super().admit(chunk)
        sequence = next(reversed(self.running.values()))
        self.pool.pin(sequence)
        if not sequence.preemptions:
            self.log.cached_tokens[sequence.row] = sequence.shared

    def preempt(self, sequence: Sequence, swap_s_per_block: float | None = None) -> None:
        """Send a running request back to the queue; what it shared may stay."""
        super().preempt(sequence, swap_s_per_block)
        self.pool.let_go(sequence)

    def cached_tokens(self, row: int, tokens: int) -> int:
        """Return the tokens of a prompt of `tokens` that are here now."""
        leap, begun = self._leap, 1
        if leap.passes > 1 and self.batch.members:
            begun = leap.pass_at(self.env.now - leap.start_s, leap.passes)
        return self.cached_tokens_after(begun - 1, row, tokens)

    def cached_tokens_after(self, passes: int, row: int, tokens: int) -> int:
        """Return the same, once so many passes of the leap are over."""
        if passes:
            self._make_way(passes)
        return self.pool.cached_tokens(row, tokens)

    def _make_way(self, gone: int) -> None:
        self.pool.make_way(self.batch, self.prefilling, self.passes + gone - 1, gone)

    def _pass_by(self, now: float) -> None:
        self._make_way(self._leap.passes)
        super()._pass_by(now)

    def advance_prompts(self, now: float) -> None:
        """Count the chunks of the pass that has ended, and share what they have computed."""
        for sequence in self.prefilling:
            self.pool.share(sequence)
        super().advance_prompts(now)

    def _finish(self, sequence: Sequence, now: float) -> None:
        plan = sequence.plan
        kv = answered = float(plan.prefill_tokens)
        for phase in plan.phases:
            kv += phase.kv_growth * phase.passes
        answered += plan.visible_tokens
        self.pool.keep_answer(sequence, min(kv, answered))
        super()._finish(sequence, now)


class SharingLane(Sharing, Lane):
    """A lane that keeps the KV of prompts for later requests."""


class SharingHabitual(Sharing, HabitualReplica):
    """A replica with habits that keeps the KV of prompts for later requests."""


class SharingHabitualLane(Sharing, HabitualLane):
    """A lane with habits that keeps the KV of prompts for later requests."""
