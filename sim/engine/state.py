"""The mutable state of one replica, and the two ways in and out of its batch."""

from collections import deque
from collections.abc import Collection

from sim.decoding import Phase
from sim.engine.batch import DecodeBatch
from sim.engine.kv_pool import KvPool
from sim.engine.log import Log
from sim.engine.policies import Policy, adopt
from sim.engine.pricing import Leap
from sim.engine.sequence import Sequence


class ReplicaState:
    """Queue, running requests, decode batch, KV pool: all that schedulers work on."""

    def __init__(self, index: int, pool: KvPool, log: Log, reaches: Collection[int]) -> None:
        self.index, self.pool, self.log = index, pool, log
        self.waiting: deque[Sequence] = deque()
        self.running: dict[int, Sequence] = {}
        """By serial, in order of admission."""
        self.prefilling: list[Sequence] = []
        """Those of them that still compute their prompt."""
        self.batch = DecodeBatch(reaches)
        self.passes = 0
        """Passes completed so far."""
        self.now_s = 0.0
        """Simulated time of the boundary at hand."""
        self._serial = 0
        self._decided: tuple[int, ...] = ()
        """Serials of the sequences for which the policy has decided."""

    def follow(self, policy: Policy, leap: Leap) -> None:
        """Let a policy decide where sequences have joined or left; the rest of each follows it."""
        batch = self.batch
        serials = tuple(batch.members)
        if serials == self._decided:
            return
        self._decided = serials
        mode = policy.mode(len(serials), batch.read)
        leap.drafting, leap.verified = mode.drafting, mode.verified_share
        for sequence in list(batch.members.values()):
            phase, passed = sequence.phase, self.passes - sequence.joined
            if phase is None:  # pragma: no cover - a sequence that decodes has a phase
                raise AssertionError(sequence.row)
            kv = sequence.kv_at(self.passes)
            rest = adopt(mode, sequence.plan, phase, kv)
            if rest is None:
                continue
            self.log_stint(sequence, phase)
            batch.leave(sequence, phase, self.passes)
            self.log.chunks[sequence.row] += rest.passes - (phase.passes - sequence.done - passed)
            sequence.phase, sequence.kv, sequence.done = rest, kv, 0
            batch.join(sequence, rest, self.passes)
        batch.renew_ends()

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
