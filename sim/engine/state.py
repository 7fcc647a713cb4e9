"""The mutable state of one replica, and the two ways in and out of its batch."""

from collections import deque
from collections.abc import Collection

from sim.decoding import Phase
from sim.engine.batch import DecodeBatch
from sim.engine.kv_pool import KvPool
from sim.engine.log import Log
from sim.engine.sequence import Sequence


class ReplicaState:
    """Queue, running requests, decode batch, KV pool: all that schedulers work on."""

    batch_kind = DecodeBatch

    def __init__(self, index: int, pool: KvPool, log: Log, reaches: Collection[int]) -> None:
        self.index, self.pool, self.log = index, pool, log
        self.waiting: deque[Sequence] = deque()
        self.running: dict[int, Sequence] = {}
        """By serial, in order of admission."""
        self.prefilling: list[Sequence] = []
        """Those of them that still compute their prompt."""
        self.batch = self.batch_kind(reaches)
        self.passes = 0
        """Passes completed so far."""
        self.now_s = 0.0
        """Simulated time of the boundary at hand."""
        self._serial = 0

    def admit(self, chunk: int) -> None:
        """Take the head of the queue in, with `chunk` prompt tokens in the coming pass."""
        sequence = self.waiting.popleft()
        sequence.serial = self._serial
        self._serial += 1
        self.running[sequence.serial] = sequence
        if not sequence.admitted:
            sequence.admitted = True
            now, arrival = self.now_s, sequence.arrival_s
            self.log.admitted_s[sequence.row] = now if now > arrival else arrival  # noqa: FURB136  # hot
        if sequence.target:
            sequence.chunk = chunk
            self.prefilling.append(sequence)
        elif sequence.phase is not None:
            self.batch.join(sequence, sequence.phase, self.passes)

    def preempt_newest(self) -> None:
        """Send the newest running request back to the head of the queue, without its KV."""
        _, sequence = self.running.popitem()
        if sequence.joined >= 0 and sequence.phase is not None:
            self.log_stint(sequence, sequence.phase)
            self.batch.leave(sequence, sequence.phase, self.passes)
            sequence.preempted_s = self.now_s
        else:
            self.prefilling.remove(sequence)
        sequence.suspend(self.passes)
        self.log.preemptions[sequence.row] += 1
        self.waiting.appendleft(sequence)

    def log_stint(self, sequence: Sequence, phase: Phase) -> None:
        """Note the passes that a sequence has just decoded in one piece, if they show anything."""
        first = sequence.joined
        if self.passes > first and phase.visible_tokens:
            self.log.stint(
                sequence.row, self.index, first, self.passes, phase.chunk_passes, sequence.done
            )
