"""Sums over the decoding sequences for layers that look back only so far.

A sliding window, or the top-k tokens of sparse attention, caps what a sequence reads. Up to the
cap a sequence counts like one of full attention; from the pass on at which it crosses the cap it
counts a constant. The crossing is a breakpoint of the leap.
"""

from heapq import heappop, heappush
from math import ceil

from sim.decoding import Phase
from sim.engine.sequence import Sequence

_ROUNDING = 1e-6
_NEVER = 1 << 60


class ReachSums:
    """What the coming pass reads in the layers of one reach, and how it grows."""

    __slots__ = ("_at", "_crossings", "growth", "pairs", "pairs_growth", "read", "tokens")

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        """How far a query looks back, itself included."""
        self._at: dict[int, int] = {}
        """Pass count from which each member is capped, by serial."""
        self._crossings: list[tuple[int, int]] = []
        """Heap of (pass count, serial) still to come."""
        self.clear()

    def clear(self) -> None:
        """Forget the sums, rounding and all."""
        self.read = self.growth = self.pairs = self.pairs_growth = 0.0

    def join(self, sequence: Sequence, phase: Phase, passes: int) -> None:
        """Add a member that joins after `passes` passes."""
        short = self.tokens + phase.positions - 1 - sequence.kv - phase.read_extra
        if short <= _ROUNDING:
            crossing = passes
        elif phase.kv_growth > 0.0:
            crossing = passes + ceil((short - _ROUNDING) / phase.kv_growth)
        else:
            crossing = _NEVER
        self._at[sequence.serial] = crossing
        if passes < crossing < _NEVER:
            heappush(self._crossings, (crossing, sequence.serial))
        self.add(sequence, phase, passes, 1)

    def leave(self, sequence: Sequence, phase: Phase, passes: int) -> None:
        """Take a member out."""
        self.add(sequence, phase, passes, -1)
        del self._at[sequence.serial]
        if not self._at:
            self.clear()
            self._crossings.clear()

    def add(self, sequence: Sequence, phase: Phase, passes: int, sign: int) -> None:
        """Count a member in (1) or out (-1) as it stands after `passes` passes."""
        positions = phase.positions
        if passes >= self._at[sequence.serial]:
            self.read += sign * (self.tokens + positions - 1)
            self.pairs += sign * positions * self.tokens
            return
        kv = sequence.kv + phase.kv_growth * (passes - sequence.joined)
        self.read += sign * (kv + phase.read_extra)
        self.growth += sign * phase.kv_growth
        self.pairs += sign * (positions * kv + phase.pair_extra)
        self.pairs_growth += sign * positions * phase.kv_growth

    def advance(self, passes: int) -> None:
        """Let `passes` passes go by."""
        self.read += self.growth * passes
        self.pairs += self.pairs_growth * passes

    def cross(self, members: dict[int, Sequence], passes: int) -> None:
        """Cap the members whose crossing has come."""
        while self._crossings and self._crossings[0][0] <= passes:
            crossing, serial = heappop(self._crossings)
            if self._at.get(serial) != crossing:
                continue  # it left since
            sequence, phase = members[serial], members[serial].phase
            if phase is not None:
                self._at[serial] = _NEVER
                self.add(sequence, phase, passes, -1)
                self._at[serial] = crossing
                self.add(sequence, phase, passes, 1)

    def next_crossing(self) -> int:
        """Pass count at which the next member is capped."""
        crossings = self._crossings
        while crossings and self._at.get(crossings[0][1]) != crossings[0][0]:
            heappop(crossings)
        return crossings[0][0] if crossings else _NEVER


def prompt_reads(tokens: int, chunk: int, before: int) -> tuple[float, float]:
    """Return the KV tokens that a prompt chunk reads within a reach of `tokens`, and its pairs.

    Query i of the chunk (from 1) sees min(before + i, tokens) keys.
    """
    growing = min(chunk, max(0, tokens - before))
    pairs = growing * before + growing * (growing + 1) / 2 + (chunk - growing) * tokens
    return float(min(before + chunk, tokens + chunk - 1)), pairs
