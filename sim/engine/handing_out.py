"""The work that decoding sequences give the front end with each pass, without asking each one."""

from collections.abc import Mapping

from sim.decoding import Phase
from sim.engine.habits import Habits
from sim.engine.sequence import Sequence


class HandedOut:
    """Work of the chunks that the members of a batch make in a pass, s; none between chunks.

    It is a sum over the members in their order. As a rule all make like chunks: then the sum is
    that of so many equal terms, added up once for each number of them, to the same bit.
    """

    __slots__ = ("_habits", "_members", "_numbers", "_sums")

    def __init__(self, habits: Habits, members: Mapping[int, Sequence]) -> None:
        self._habits, self._members = habits, members
        self._numbers: dict[float, int] = {}
        """Members by the work of each, s."""
        self._sums: dict[float, list[float]] = {}
        """By the work of one: that of 0, 1, 2 ... like it, s."""

    def of(self, phase: Phase | None) -> float:
        """Return the work that one sequence makes in a pass of this phase, s."""
        return chunks_per_pass(self._habits, phase) * self._habits.front_end_s_per_chunk

    def join(self, sequence: Sequence) -> None:
        """Add a sequence that has joined the batch."""
        work_s = self.of(sequence.phase)
        if work_s:
            self._numbers[work_s] = self._numbers.get(work_s, 0) + 1

    def leave(self, sequence: Sequence) -> None:
        """Take one out, as it stood when it joined."""
        work_s = self.of(sequence.phase)
        if work_s:
            self._numbers[work_s] -= 1
            if not self._numbers[work_s]:
                del self._numbers[work_s]

    @property
    def total_s(self) -> float:
        """Work of all members in a pass, s."""
        total_s = 0.0
        if len(self._numbers) > 1:
            for sequence in self._members.values():
                total_s += self.of(sequence.phase)
        else:
            for work_s, number in self._numbers.items():
                total_s = self._alike(work_s, number)
        return total_s

    def _alike(self, work_s: float, number: int) -> float:
        sums = self._sums.setdefault(work_s, [0.0])
        while len(sums) <= number:
            sums.append(sums[-1] + work_s)
        return sums[number]


def chunks_per_pass(habits: Habits, phase: Phase | None) -> float:
    """Return the chunks that a sequence hands out in a pass of this phase, a fraction."""
    if phase is None or not phase.visible_tokens:
        return 0.0
    return 1.0 / habits.chunk_passes(phase)
