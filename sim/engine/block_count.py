"""KV blocks of the decoding sequences, exact at any pass, without asking each of them."""

from collections.abc import Callable, Iterable
from typing import Protocol

from sim.cost import KvShape
from sim.decoding import Plan
from sim.engine.sequence import Sequence


class Counted(Protocol):
    """What a batch keeps up to date for its pool, once the pool has asked, or its front end."""

    def join(self, sequence: Sequence) -> None:
        """Add a sequence that has joined the batch."""

    def leave(self, sequence: Sequence) -> None:
        """Take one out, as it stood when it joined."""


class Reserved:
    """Blocks that sequences have reserved as wholes, added up as they come and go."""

    __slots__ = ("_whole", "total")

    def __init__(self, whole: Callable[[Plan], float], members: Iterable[Sequence]) -> None:
        self._whole = whole
        self.total = sum(whole(member.plan) for member in members)

    def join(self, sequence: Sequence) -> None:
        """Add a sequence that has joined the batch."""
        self.total += self._whole(sequence.plan)

    def leave(self, sequence: Sequence) -> None:
        """Take one out."""
        self.total -= self._whole(sequence.plan)


class BlockCount:
    """Sequences that grow by one whole token a pass, counted by their place in a block.

    With n passes gone, one that held b tokens at pass 0 holds b + n and fills ceil((b + n) / size)
    blocks: those with the same b mod size go over into their next block together. Sequences that
    grow otherwise, or whose older blocks are dropped, are kept apart and asked one by one.
    """

    __slots__ = ("_count", "_others", "_places", "_plain", "_shape", "_size", "_whole")

    def __init__(self, shape: KvShape, members: Iterable[Sequence]) -> None:
        self._shape, self._plain, self._size = shape, not shape.windows, shape.block_tokens
        self._places = [0] * self._size
        """Sequences by b mod size."""
        self._whole = self._count = 0
        """Sum of b // size, and how many they are."""
        self._others: dict[int, Sequence] = {}
        for member in members:
            self.join(member)

    def join(self, sequence: Sequence) -> None:
        """Add a sequence that has joined the batch."""
        self._add(sequence, 1)

    def leave(self, sequence: Sequence) -> None:
        """Take one out, as it stood when it joined."""
        self._add(sequence, -1)

    def used(self, passes: int) -> float:
        """Return the blocks that they need in the pass after `passes` passes."""
        shape, places, count, size = self._shape, self._places, self._count, self._size
        whole, ahead = self._whole + (passes // size + 1) * count, passes % size
        whole += sum(places[size - ahead + 1 :]) if ahead else -places[0]
        used = shape.full * whole + shape.sequence_blocks * count
        if self._others:
            for sequence in self._others.values():
                used += shape.blocks_for(sequence.slots_at(passes))
        return used

    def _add(self, sequence: Sequence, sign: int) -> None:
        phase = sequence.phase
        if phase is None:  # pragma: no cover - a sequence that decodes has a phase
            raise AssertionError(sequence.row)
        start = sequence.kv + phase.slots_extra - sequence.joined
        whole = int(start)
        if not self._plain or phase.kv_growth != 1.0 or start != whole:
            if sign > 0:
                self._others[sequence.serial] = sequence
            else:
                del self._others[sequence.serial]
            return
        size = self._size
        self._places[whole % size] += sign
        self._whole += sign * (whole // size)
        self._count += sign
