"""Waiting lines: who is at the head, and what happens to those who come back.

Keys do not change while a request waits, so nothing has to be sorted anew as time goes by.
"""

from collections import deque
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import Protocol

from sim.engine.sequence import Sequence


class Queue(Protocol):
    """What schedulers and replicas ask of a waiting line; a `deque` is one."""

    def append(self, sequence: Sequence, /) -> None:
        """Take in a new request."""

    def appendleft(self, sequence: Sequence, /) -> None:
        """Take back a request that was preempted."""

    def popleft(self) -> Sequence:
        """Remove and return the head."""

    def __getitem__(self, place: int, /) -> Sequence: ...

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Sequence]: ...


class KeyQueue:
    """The smallest key first; equal ones in order of arrival, then of rows."""

    __slots__ = ("_heap", "_key")

    def __init__(self, key: Callable[[Sequence], float]) -> None:
        self._key = key
        self._heap: list[tuple[float, float, int, Sequence]] = []

    def append(self, sequence: Sequence) -> None:
        """Take in a request, new or preempted: its place is that of its key."""
        heappush(self._heap, (self._key(sequence), sequence.arrival_s, sequence.row, sequence))

    appendleft = append

    def popleft(self) -> Sequence:
        """Remove and return the head."""
        return heappop(self._heap)[-1]

    def __getitem__(self, place: int) -> Sequence:
        return self._heap[0][-1] if place == 0 else sorted(self._heap)[place][-1]

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[Sequence]:
        return (entry[-1] for entry in sorted(self._heap))


class FairQueue:
    """Classes share the tokens by weight (virtual token counters, Sheng et al. 2024).

    The head comes from the class that has had the fewest tokens per weight (arXiv:2401.00588). A
    request's prompt and answer count when it is first admitted. A class that comes back is lifted
    to those who waited, so that nobody saves up.
    """

    __slots__ = ("_last", "_lines", "_served", "_weights")

    def __init__(self, weights: tuple[float, ...]) -> None:
        self._weights = weights
        """By class; classes beyond have weight 1."""
        self._lines: dict[int, deque[Sequence]] = {}
        self._served: dict[int, float] = {}
        self._last = 0.0
        """Counter of the class that was served last."""

    def append(self, sequence: Sequence) -> None:
        """Take in a new request at the end of its class."""
        self._line(sequence.request_class).append(sequence)

    def appendleft(self, sequence: Sequence) -> None:
        """Take back a preempted request to the head of its class."""
        self._line(sequence.request_class).appendleft(sequence)

    def _line(self, number: int) -> deque[Sequence]:
        line = self._lines.setdefault(number, deque())
        if not line:
            busy = [self._served[each] for each, others in self._lines.items() if others]
            floor = min(busy, default=self._last)
            self._served[number] = max(self._served.get(number, 0.0), floor)
        return line

    def _next(self) -> int:
        return min((self._served[number], number) for number, line in self._lines.items() if line)[
            1
        ]

    def popleft(self) -> Sequence:
        """Remove and return the head; its class has had its tokens."""
        number = self._next()
        sequence = self._lines[number].popleft()
        if not sequence.admitted:
            weight = self._weights[number] if number < len(self._weights) else 1.0
            plan = sequence.plan
            self._served[number] += (plan.prefill_tokens + plan.visible_tokens) / weight
        self._last = self._served[number]
        return sequence

    def __getitem__(self, place: int) -> Sequence:
        return self._lines[self._next()][0] if place == 0 else list(self)[place]

    def __len__(self) -> int:
        return sum(map(len, self._lines.values()))

    def __iter__(self) -> Iterator[Sequence]:
        return (sequence for _, line in sorted(self._lines.items()) for sequence in line)


class PickUpQueue:
    """Requests come to the line proper only when the engine has looked for new ones.

    It looks after every `every` passes that hold no prompt, and after each that does; who has
    come `passes` before is then seen.
    """

    __slots__ = ("_every", "_from", "_now", "_passes", "coming", "new", "seen")

    def __init__(self, seen: Queue, passes: int, every: int = 1) -> None:
        self.seen, self._passes, self._every = seen, passes, every
        self.new: list[Sequence] = []
        """Those who came during the pass that has just ended."""
        self.coming: deque[tuple[int, Sequence]] = deque()
        """(count of passes from which it may be seen, request)."""
        self._now = self._from = 0
        """Counts of passes: at the last look; and after the last pass that held prompts."""

    def look(self, passes: int, *, idle: bool, prompts: bool) -> int:
        """Move over whose time has come; return the passes until that of the next, or 0.

        `prompts`: the coming pass goes on with prompts that have begun.
        """
        coming, since = self.coming, self._from
        coming.extend((passes + self._passes, sequence) for sequence in self.new)
        self.new.clear()
        looks = idle or (passes - since) % self._every == 0
        while coming and (idle or (looks and coming[0][0] <= passes)):
            self.seen.append(coming.popleft()[1])
        self._now = passes
        if prompts:
            self._from = passes + 1
        if not coming:
            return 0
        due = max(coming[0][0], passes + 1)
        return due + (since - due) % self._every - passes

    def append(self, sequence: Sequence) -> None:
        """Take in a new request, not to be seen yet."""
        self.new.append(sequence)

    def appendleft(self, sequence: Sequence) -> None:
        """Take back a preempted request, which the engine knows."""
        self.seen.appendleft(sequence)

    def popleft(self) -> Sequence:
        """Remove and return the head of those seen: the coming pass holds its prompt."""
        sequence = self.seen.popleft()
        if sequence.target:
            self._from = self._now + 1
        return sequence

    def __getitem__(self, place: int) -> Sequence:
        return self.seen[place]

    def __len__(self) -> int:
        return len(self.seen) + len(self.coming) + len(self.new)

    def __iter__(self) -> Iterator[Sequence]:
        yield from self.seen
        yield from (sequence for _, sequence in self.coming)
        yield from self.new
