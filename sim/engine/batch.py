"""The decoding sequences of a replica as a few running sums."""

from heapq import heappop, heappush

from sim.engine.sequence import Sequence


class DecodeBatch:
    """Sums over the decoding sequences, as of the replica's pass count.

    A pass reads `context + read_extra` KV tokens, makes `pairs + pair_extra` pairs and carries `positions`
    query positions; the next one `context_growth` and `pairs_growth` more. Joining, leaving and advancing by
    any number of passes cost the same whatever the batch holds.
    """

    __slots__ = (
        "context",
        "context_growth",
        "ends",
        "logit_positions",
        "members",
        "pair_extra",
        "pairs",
        "pairs_growth",
        "positions",
        "read_extra",
        "slots",
    )

    def __init__(self) -> None:
        self.members: dict[int, Sequence] = {}
        """By serial, in order of admission."""
        self.ends: list[tuple[int, int, Sequence]] = []
        """Heap of breakpoints: (pass count at which the phase ends, serial, sequence)."""
        self._clear()

    def _clear(self) -> None:
        self.positions = 0
        self.logit_positions = self.context = self.context_growth = 0.0
        self.pairs = self.pairs_growth = self.read_extra = self.pair_extra = self.slots = 0.0

    def join(self, sequence: Sequence, passes: int) -> None:
        """Add a sequence whose current phase goes on from here."""
        sequence.joined = passes
        self.members[sequence.serial] = sequence
        phase = self._add(sequence, sequence.kv, 1)
        heappush(self.ends, (passes + phase - sequence.done, sequence.serial, sequence))

    def leave(self, sequence: Sequence, passes: int) -> None:
        """Take a sequence out; the rounding that it leaves behind goes with the last one."""
        del self.members[sequence.serial]
        self._add(sequence, sequence.kv_at(passes), -1)
        if not self.members:
            self._clear()
            self.ends.clear()

    def _add(self, sequence: Sequence, kv: float, sign: int) -> int:
        phase = sequence.phase
        if phase is None:  # pragma: no cover - sequences without passes never join
            raise AssertionError(sequence.row)
        positions = sign * phase.positions
        growth = sign * phase.kv_growth
        self.positions += positions
        self.logit_positions += sign * phase.logit_positions
        self.context += sign * kv
        self.context_growth += growth
        self.pairs += positions * kv
        self.pairs_growth += phase.positions * growth
        self.read_extra += sign * phase.read_extra
        self.pair_extra += sign * phase.pair_extra
        self.slots += sign * phase.slots_extra
        return phase.passes

    def recount(self, passes: int) -> None:
        """Make the sums anew from the members (the pass-by-pass mode checks the running sums with it)."""
        self._clear()
        for sequence in self.members.values():
            self._add(sequence, sequence.kv_at(passes), 1)

    def next_end(self) -> int:
        """Pass count at which the first phase ends."""
        ends = self.ends
        while ends[0][2].joined < 0 or ends[0][2].serial != ends[0][1]:
            heappop(ends)  # it was preempted since
        return ends[0][0]

    def pop_ended(self, passes: int) -> Sequence | None:
        """Remove and return the next sequence whose phase ends at or before `passes`."""
        while self.ends and self.ends[0][0] <= passes:
            _, serial, sequence = heappop(self.ends)
            if sequence.serial == serial and sequence.joined >= 0:
                return sequence
        return None
