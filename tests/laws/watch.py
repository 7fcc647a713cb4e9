"""A replica that is looked at before every pass: all within limits, and no idling."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from math import ceil

import pytest

from sim.cost import KvShape
from sim.cost.lane import LanePass
from sim.engine.lane import Lane
from sim.engine.replica import Replica
from sim.engine.sequence import Sequence
from sim.engine.shared_pool import SharedPool
from sim.engine.sharing import Sharing, SharingLane


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


class Checks(Replica):
    """What must hold whenever the next pass or passes are decided on."""

    seen = 0
    last_s = 0.0

    def check(self, now: float, preempted_before: int, ahead: int) -> None:
        assert now >= self.env.now, "behind the clock"
        assert now >= self.last_s, "the clock ran back"
        self.last_s = now
        Checks.seen += 1
        if not self.running:
            assert not self.waiting, "idle while a request waits that fits an empty replica"
            return
        self.check_sizes(ahead)
        self.check_batch()
        if self.preempted() == preempted_before:
            self.check_nobody_waits_in_vain()

    def preempted(self) -> int:
        return sum(self.log.preemptions)

    def used(self, passes: int) -> float:
        running, kv = self.running.values(), self.pool.shape
        used = sum(blocks_of(slots_of(sequence, passes), kv) for sequence in running)
        if isinstance(self.pool, SharedPool):  # shared blocks count once, however many use them
            one = kv.full * self.pool.names.block_tokens / kv.block_tokens
            users = [self.shared_names(sequence) for sequence in running]
            pinned = {name for names in users for name in names}
            assert self.pool.cache.pinned == len(pinned), "a block is pinned for nobody"
            used -= one * (sum(map(len, users)) - len(pinned))
        return used

    def shared_names(self, sequence: Sequence) -> list[int]:
        assert isinstance(self.pool, SharedPool)
        names = self.pool.names.of(sequence.row, sequence.shared)
        assert len(names) * self.pool.names.block_tokens == sequence.shared
        return names

    def check_sizes(self, ahead: int) -> None:
        """KV used and free make the pool in the first pass to come and in the last."""
        for passes in {self.passes, self.passes + ahead - 1}:
            assert 0 <= self.used(passes) <= self.pool.shape.blocks + 1e-9
            free = self.pool.free(self.batch, self.prefilling, passes)
            assert self.used(passes) + free == pytest.approx(self.pool.shape.blocks, rel=1e-12)
        assert len(self.running) <= self.scheduler.max_sequences
        assert 0 < self.in_pass() <= self.scheduler.max_batched_tokens
        assert ahead >= 1

    def in_pass(self) -> int:
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
        left = limits.max_batched_tokens - self.in_pass()
        everybody = [*self.running.values(), head]
        positions = sum(sequence.phase.positions for sequence in everybody if sequence.phase)
        found, there = self.found(head)
        slots: float = found + min(head.target - found, left)
        if not head.target and head.phase:
            slots = head.kv + head.phase.slots_extra
        free = kv.blocks - self.used(self.passes) + there
        assert (
            len(self.running) >= limits.max_sequences
            or left <= 0
            or positions > limits.max_batched_tokens
            or blocks_of(slots, kv) > free - 1e-9
        ), "a request waits although it could be admitted"

    def found(self, head: Sequence) -> tuple[int, float]:
        """Tokens that the request would find, and the blocks of those that others use anyway."""
        if not isinstance(self.pool, SharedPool) or not head.target:
            return 0, 0.0
        pool, kv = self.pool, self.pool.shape
        prompt = min(head.target - 1, head.plan.prefill_tokens)
        names = pool.names.of(head.row, prompt)
        names = names[: pool.cache.held(names)]
        used = {name for each in self.running.values() for name in self.shared_names(each)}
        one = kv.full * pool.names.block_tokens / kv.block_tokens
        return len(names) * pool.names.block_tokens, one * len(used & set(names))


class Watched(Checks):
    """A replica that checks itself."""

    def _begin(self, now: float) -> float:
        preempted_before = self.preempted()
        duration_s = super()._begin(now)
        self.check(now, preempted_before, self._leap.passes)
        return duration_s


class WatchedLane(Lane, Checks):
    """A lane that checks itself, as soon as its group has decided."""

    def decide(self, now: float) -> None:
        preempted_before = self.preempted()
        super().decide(now)
        cost = self.pricer.cost
        if self.running and isinstance(cost, LanePass):
            super().price(cost)
        self.check(now, preempted_before, self.steps)


class WatchedSharing(Sharing, Watched):
    """A replica with a prefix cache that checks itself."""


class WatchedSharingLane(SharingLane, WatchedLane):
    """A lane with a prefix cache that checks itself."""


@contextmanager
def watched_replicas() -> Iterator[type[Checks]]:
    """Let every replica of `simulate` check itself; yield its class, which counts the checks."""
    Checks.seen = 0
    with pytest.MonkeyPatch.context() as patch:
        for kind in (Watched, WatchedLane, WatchedSharing, WatchedSharingLane):
            patch.setattr(import_module("sim.engine.fleet"), kind.__name__[7:] or "Replica", kind)
        yield Checks
