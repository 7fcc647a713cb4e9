"""Sums over the decoding sequences for layers that look back only so far.

A sliding window, or the top-k tokens of sparse attention, caps what a sequence reads and pairs. Up
to the cap a sequence counts like one of full attention; from the pass on at which it meets the cap
it counts a constant. The crossing is a breakpoint of the leap.
"""

from heapq import heappop, heappush
from math import ceil
from typing import NamedTuple

from sim.decoding import Phase
from sim.units import TOKEN_ROUNDING

_NEVER = 1 << 60


class _Member(NamedTuple):
    value: float
    """In its first pass here."""
    growth: float
    """More in each later one."""
    cap: float
    joined: int
    crossing: int
    """Pass count from which it is capped."""


class CappedSum:
    """Sum of what grows by the pass and then stays, over members that come and go."""

    __slots__ = ("_crossings", "_members", "growth", "value")

    def __init__(self) -> None:
        self._members: dict[int, _Member] = {}
        """By serial."""
        self._crossings: list[tuple[int, int, int]] = []
        """Heap of (pass count, serial, joined) still to come; some have left since."""
        self.value = self.growth = 0.0

    def join(self, serial: int, value: float, growth: float, cap: float, passes: int) -> None:
        """Add a member that joins after `passes` passes."""
        crossing, short = passes, cap - value
        if short > TOKEN_ROUNDING:
            crossing = passes + ceil((short - TOKEN_ROUNDING) / growth) if growth > 0.0 else _NEVER
        self._members[serial] = member = _Member(value, growth, cap, passes, crossing)
        if passes < crossing < _NEVER:
            heappush(self._crossings, (crossing, serial, passes))
        self._count(member, passes, 1)

    def leave(self, serial: int, passes: int) -> None:
        """Take a member out; the rounding that it leaves behind goes with the last one."""
        self._count(self._members.pop(serial), passes, -1)
        if not self._members:
            self.value = self.growth = 0.0
            self._crossings.clear()

    def _count(self, member: _Member, passes: int, sign: int) -> None:
        if passes >= member.crossing:
            self.value += sign * member.cap
        else:
            self.value += sign * (member.value + member.growth * (passes - member.joined))
            self.growth += sign * member.growth

    def cross(self, passes: int) -> None:
        """Cap the members whose crossing has come."""
        crossings, last = self._crossings, None
        while crossings and crossings[0][0] <= passes:
            entry = heappop(crossings)
            if entry == last:  # it left and joined again in the same pass
                continue
            last = crossing, serial, joined = entry
            member = self._members.get(serial)
            if member is not None and (member.crossing, member.joined) == (crossing, joined):
                grown = member.value + member.growth * (passes - joined)
                self.value += member.cap - grown
                self.growth -= member.growth

    def recount(self, passes: int) -> None:
        """Add up anew."""
        self.value = self.growth = 0.0
        for member in self._members.values():
            self._count(member, passes, 1)

    def next_crossing(self) -> int:
        """Pass count at which the next member is capped."""
        crossings, members = self._crossings, self._members
        while crossings:
            crossing, serial, joined = crossings[0]
            member = members.get(serial)
            if member is not None and (member.crossing, member.joined) == (crossing, joined):
                return crossing
            heappop(crossings)  # it left since
        return _NEVER


class ReachSums:
    """What the coming pass reads and pairs in the layers of one reach, and how both grow.

    The positions of a pass stand one after the other: together they read `reach + positions - 1`
    keys at most, and each pairs with no more than `reach` of them.
    """

    __slots__ = ("pairs", "reads", "tokens")

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        """How far a query looks back, itself included."""
        self.reads, self.pairs = CappedSum(), CappedSum()

    def join(self, serial: int, kv: float, phase: Phase, passes: int) -> None:
        """Add a sequence that joins after `passes` passes."""
        positions, growth = phase.positions, phase.kv_growth
        most = self.tokens + positions - 1
        self.reads.join(serial, kv + phase.read_extra, growth, most, passes)
        pairs, most = positions * kv + phase.pair_extra, positions * self.tokens
        self.pairs.join(serial, pairs, positions * growth, most, passes)

    def leave(self, serial: int, passes: int) -> None:
        """Take a sequence out."""
        self.reads.leave(serial, passes)
        self.pairs.leave(serial, passes)

    def advance(self, passes: int) -> None:
        """Let `passes` passes go by."""
        self.reads.value += self.reads.growth * passes
        self.pairs.value += self.pairs.growth * passes

    def cross(self, passes: int) -> None:
        """Cap the sequences whose crossing has come."""
        self.reads.cross(passes)
        self.pairs.cross(passes)

    def recount(self, passes: int) -> None:
        """Add up anew, as the pass-by-pass mode does."""
        self.reads.recount(passes)
        self.pairs.recount(passes)

    def next_crossing(self) -> int:
        """Pass count at which the next sequence is capped."""
        return min(self.reads.next_crossing(), self.pairs.next_crossing())

    @property
    def state(self) -> tuple[float, float, float, float]:
        """KV tokens read, pairs, and how both grow."""
        reads, pairs = self.reads, self.pairs
        return reads.value, pairs.value, reads.growth, pairs.growth


def prompt_reads(tokens: int, chunk: int, before: int) -> tuple[float, float]:
    """Return the KV tokens that a prompt chunk reads within a reach of `tokens`, and its pairs.

    Query i of the chunk (from 1) sees min(before + i, tokens) keys.
    """
    growing = min(chunk, max(0, tokens - before))
    pairs = growing * before + growing * (growing + 1) / 2 + (chunk - growing) * tokens
    return float(min(before + chunk, tokens + chunk - 1)), pairs
