"""A replica that is looked at before every pass: all within limits, and no idling."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from math import ceil
from typing import Any

import pytest

from sim.cost import KvShape
from sim.engine.replica import Replica
from sim.engine.sequence import Sequence


def slots_of(sequence: Sequence, passes: int) -> float:
    """KV tokens that a running sequence holds in the pass after `passes` passes."""
    phase = sequence.phase
    if sequence.joined < 0 or phase is None:
        return sequence.computed + sequence.chunk
    return sequence.kv + phase.kv_growth * (passes - sequence.joined) + phase.slots_extra


def blocks_of(tokens: float, kv: KvShape) -> float:
    """KV blocks of a sequence: whole ones in layers that keep all and in windows, its state."""
    kept = [(tokens, kv.full), *((min(tokens, window), part) for window, part in kv.windows)]
    blocks = sum(part * ceil((held - 1e-6) / kv.block_tokens) for held, part in kept)
    return blocks + kv.sequence_blocks


class Watched(Replica):
    """Checks itself whenever it has decided on its next pass or passes."""

    seen = 0

    def __init__(self, *args: Any, **settings: Any) -> None:
        self.last_s = 0.0
        super().__init__(*args, **settings)

    def _begin(self, now: float) -> float:
        assert now >= self.env.now, "behind the clock"
        assert now >= self.last_s, "the clock ran back"
        self.last_s = now
        free_before = self.preempted()
        duration_s = super()._begin(now)
        type(self).seen += 1
        if not self.running:
            assert not self.waiting, "idle while a request waits that fits an empty replica"
            return duration_s
        self.check_sizes()
        self.check_batch()
        if self.preempted() == free_before:
            self.check_nobody_waits_in_vain()
        return duration_s

    def preempted(self) -> int:
        return sum(self.log.preemptions)

    def used(self, passes: int) -> float:
        running, kv = self.running.values(), self.pool.shape
        return sum(blocks_of(slots_of(sequence, passes), kv) for sequence in running)

    def check_sizes(self) -> None:
        """KV used and free make the pool in the first pass to come and in the last."""
        for passes in {self.passes, self.passes + self._leap.passes - 1}:
            assert 0 <= self.used(passes) <= self.pool.shape.blocks + 1e-9
            free = self.pool.free(self.batch, self.prefilling, passes)
            assert self.used(passes) + free == pytest.approx(self.pool.shape.blocks, rel=1e-12)
        assert len(self.running) <= self.scheduler.max_sequences
        assert 0 < self.tokens() <= self.scheduler.max_batched_tokens
        assert self._leap.passes >= 1

    def tokens(self) -> int:
        return self.batch.positions + sum(sequence.chunk for sequence in self.prefilling)

    def check_batch(self) -> None:
        """The running sums are those of the members; who runs either decodes or prefills."""
        members, batch = list(self.batch.members.values()), self.batch
        serials = {*batch.members, *(sequence.serial for sequence in self.prefilling)}
        assert serials == set(self.running)
        assert not {sequence.row for sequence in self.running.values()} & {
            sequence.row for sequence in self.waiting
        }
        pairs = [(sequence.kv_at(self.passes), sequence.phase) for sequence in members]
        sums = {
            "positions": sum(phase.positions for _, phase in pairs if phase),
            "read": sum(kv + phase.read_extra for kv, phase in pairs if phase),
            "held": sum(kv + phase.slots_extra for kv, phase in pairs if phase),
            "growth": sum(phase.kv_growth for _, phase in pairs if phase),
            "pairs": sum(phase.positions * kv + phase.pair_extra for kv, phase in pairs if phase),
        }
        for name, value in sums.items():
            assert getattr(batch, name) == pytest.approx(value, rel=1e-9, abs=1e-6), name

    def check_nobody_waits_in_vain(self) -> None:
        """The head of the queue lacks a place, budget, positions or KV."""
        if not self.waiting:
            return
        head, limits, kv = self.waiting[0], self.scheduler, self.pool.shape
        left = limits.max_batched_tokens - self.tokens()
        everybody = [*self.running.values(), head]
        positions = sum(sequence.phase.positions for sequence in everybody if sequence.phase)
        slots: float = min(head.target, left)
        if not head.target and head.phase:
            slots = head.kv + head.phase.slots_extra
        free = kv.blocks - self.used(self.passes)
        assert (
            len(self.running) >= limits.max_sequences
            or left <= 0
            or positions > limits.max_batched_tokens
            or blocks_of(slots, kv) > free - 1e-9
        ), "a request waits although it could be admitted"


@contextmanager
def watched_replicas() -> Iterator[type[Watched]]:
    """Let every replica of `simulate` check itself; yield its class, which counts the checks."""
    Watched.seen = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("sim.engine.simulate"), "Replica", Watched)
        yield Watched
