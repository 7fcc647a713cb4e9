"""The decoding sequences of a replica as a few running sums."""

from collections.abc import Collection
from heapq import heapify, heappop, heappush

from sim.decoding import Phase
from sim.engine.block_count import Counted
from sim.engine.reach import ReachSums
from sim.engine.sequence import Sequence


class DecodeBatch:
    """Sums over the decoding sequences, as of the replica's pass count.

    The coming pass carries `positions` query positions, reads `read` KV tokens, makes `pairs`
    query x key pairs and needs slots for `held` tokens; each later one reads and holds `growth`
    more tokens and makes `pairs_growth` more pairs. Joining, leaving and advancing by any number
    of passes cost the same whatever the batch holds.
    """

    __slots__ = (
        "blocks",
        "ends",
        "growth",
        "handed_out",
        "held",
        "logit_positions",
        "members",
        "pairs",
        "pairs_growth",
        "positions",
        "reaches",
        "read",
    )

    def __init__(self, reaches: Collection[int] = ()) -> None:
        self.reaches = tuple(ReachSums(tokens) for tokens in reaches)
        """Sums for the layers that look back only so far."""
        self.members: dict[int, Sequence] = {}
        """By serial, in order of admission."""
        self.blocks: Counted | None = None
        """Their KV blocks, once the pool has asked: where there is room, nobody counts."""
        self.handed_out: Counted | None = None
        """What they give the front end to do, where that takes time."""
        self.ends: list[tuple[int, int, Sequence]] = []
        """Heap of breakpoints: (pass count at which the phase ends, serial, sequence)."""
        self._clear()

    def _clear(self) -> None:
        self.positions = 0
        self.logit_positions = self.read = self.held = self.growth = 0.0
        self.pairs = self.pairs_growth = 0.0

    def join(self, sequence: Sequence, phase: Phase, passes: int) -> None:
        """Add a sequence whose current phase goes on from here."""
        serial, kv = sequence.serial, sequence.kv
        sequence.joined = passes
        self.members[serial] = sequence
        self._add(phase, kv)
        if self.blocks is not None:
            self.blocks.join(sequence)
        if self.handed_out is not None:
            self.handed_out.join(sequence)
        for reach in self.reaches:
            reach.join(serial, kv, phase, passes)
        heappush(self.ends, (passes + phase.passes - sequence.done, serial, sequence))

    def _add(self, phase: Phase, kv: float) -> None:
        _, positions, logits, growth, read_extra, pair_extra, slots_extra, _, _ = phase
        self.positions += positions
        self.logit_positions += logits
        self.read += kv + read_extra
        self.held += kv + slots_extra
        self.growth += growth
        self.pairs += positions * kv + pair_extra
        self.pairs_growth += positions * growth

    def renew_ends(self) -> None:
        """Forget the breakpoints of phases that were exchanged for others on the way."""
        self.ends = [
            (sequence.joined + sequence.phase.passes - sequence.done, serial, sequence)
            for serial, sequence in self.members.items()
            if sequence.phase is not None
        ]
        heapify(self.ends)

    def leave(self, sequence: Sequence, phase: Phase, passes: int) -> None:
        """Take a sequence out; the rounding that it leaves behind goes with the last one."""
        members = self.members
        del members[sequence.serial]
        if self.blocks is not None:
            self.blocks.leave(sequence)
        if self.handed_out is not None:
            self.handed_out.leave(sequence)
        for reach in self.reaches:
            reach.leave(sequence.serial, passes)
        if not members:
            self._clear()
            self.ends.clear()
            return
        _, positions, logits, growth, read_extra, pair_extra, slots_extra, _, _ = phase
        kv = sequence.kv + growth * (passes - sequence.joined)
        self.positions -= positions
        self.logit_positions -= logits
        self.read -= kv + read_extra
        self.held -= kv + slots_extra
        self.growth -= growth
        self.pairs -= positions * kv + pair_extra
        self.pairs_growth -= positions * growth

    def advance(self, passes: int) -> None:
        """Let `passes` passes go by."""
        grown = self.growth * passes
        self.read += grown
        self.held += grown
        self.pairs += self.pairs_growth * passes
        for reach in self.reaches:
            reach.advance(passes)

    def cross(self, passes: int) -> None:
        """Cap the sequences that have crossed a reach."""
        for reach in self.reaches:
            reach.cross(passes)

    def recount(self, passes: int) -> None:
        """Make the sums anew from the members, as the pass-by-pass mode does."""
        self._clear()
        self.blocks = None
        for sequence in self.members.values():
            if sequence.phase is not None:
                self._add(sequence.phase, sequence.kv_at(passes))
        for reach in self.reaches:
            reach.recount(passes)

    def next_breakpoint(self) -> int:
        """Pass count at which the first phase ends or the first sequence crosses a reach."""
        ends = self.ends
        first, serial, sequence = ends[0]
        while sequence.joined < 0 or sequence.serial != serial:
            heappop(ends)  # it was preempted since
            first, serial, sequence = ends[0]
        for reach in self.reaches:
            first = min(first, reach.next_crossing())
        return first

    def capped(self) -> tuple[tuple[float, float], ...]:
        """(KV tokens read, pairs) of the coming pass in the layers of each reach."""
        return tuple(reach.state[:2] for reach in self.reaches)

    def growths(self) -> tuple[tuple[float, float, float, float], ...]:
        """KV tokens read, pairs and their growths: in all layers that look back, then by reach."""
        first = (self.read, self.pairs, self.growth, self.pairs_growth)
        if not self.reaches:
            return (first,)
        return (first, *(reach.state for reach in self.reaches))
