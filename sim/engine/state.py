"""The mutable state of one replica, and the two ways in and out of its batch."""

from collections import deque
from collections.abc import Collection

from sim.decoding import Phase
from sim.engine.batch import DecodeBatch
from sim.engine.kv_pool import KvPool
from sim.engine.log import Log
from sim.engine.policies import Policy, adopt
from sim.engine.pricing import Leap
from sim.engine.queues import Queue
from sim.engine.sequence import Sequence


class ReplicaState:
    """Queue, running requests, decode batch, KV pool: all that schedulers work on."""

    batch_kind = DecodeBatch
    policy: Policy | None = None
    """Decides whenever sequences have joined or left; None: they decode alike in any batch."""

    def __init__(self, index: int, pool: KvPool, log: Log, reaches: Collection[int]) -> None:
        self.index, self.pool, self.log = index, pool, log
        self.waiting: Queue = deque()
        self.running: dict[int, Sequence] = {}
        """By serial, in order of admission."""
        self.prefilling: list[Sequence] = []
        """Those of them that still compute their prompt."""
        self.batch = self.batch_kind(reaches)
        self.beside: DecodeBatch = self.batch
        """The decoding sequences that prompts share their passes with."""
        self.passes = 0
        """Passes completed so far."""
        self.now_s = 0.0
        """Simulated time of the boundary at hand."""
        self.paused = 0
        """Passes besides those, of prompts only, in which the decode batch stood still."""
        self.horizon = 0
        """Passes after which the scheduler wants to be asked again; 0: when something happens."""
        self.extra_s = 0.0
        """Time that the coming pass takes longer: KV that is swapped out or in."""
        self._serial = 0
        self._decided: tuple[int, ...] = ()
        """Serials of the sequences for which the policy has decided."""

    def follow(self, policy: Policy, leap: Leap) -> None:
        """Let a policy decide where sequences have joined or left; the rest of each follows it."""
        batch = self.batch
        serials = tuple(batch.members)
        if serials == self._decided:
            return
        mode = policy.mode(len(serials), batch.read)
        leap.drafting, leap.verified = mode.drafting, mode.verified_share
        leap.time_share = mode.time_share
        for sequence in list(batch.members.values()):
            phase = sequence.phase
            if phase is None:  # pragma: no cover - a sequence that decodes has a phase
                raise AssertionError(sequence.row)
            kv = sequence.kv_at(self.passes)
            rest = adopt(mode, sequence.plan, phase, kv)
            if rest is None:
                continue
            self.log_stint(sequence, phase)
            batch.leave(sequence, phase, self.passes)
            self.replan(sequence, phase, rest)
            sequence.phase, sequence.kv, sequence.done = rest, kv, 0
            batch.join(sequence, rest, self.passes)
        self._decided = tuple(batch.members)  # who goes on otherwise stands last now
        batch.renew_ends()

    def replan(self, sequence: Sequence, phase: Phase, rest: Phase) -> None:
        """Count the chunks anew of an answer that goes on with another phase than it was in."""
        done = sequence.done + self.passes - sequence.joined
        self.log.chunks[sequence.row] += rest.passes - (phase.passes - done)

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

    @property
    def turns(self) -> int:
        """Passes of any kind so far."""
        return self.passes + self.paused

    def add_extra(self, leap: Leap) -> None:
        """Let the first pass of a leap take as much longer as swapped KV needs."""
        leap.first_s += self.extra_s
        self.extra_s = 0.0

    def preempt_newest(self) -> None:
        """Send the newest running request back to the head of the queue, without its KV."""
        self.preempt(next(reversed(self.running.values())))

    def preempt(self, sequence: Sequence, swap_s_per_block: float | None = None) -> None:
        """Send a running request back to the queue.

        Its KV is dropped, or, where there is a time for a block, moved to the host: then the
        coming pass takes longer, and the request goes on where it stopped when it is back.
        """
        del self.running[sequence.serial]
        if sequence.joined >= 0 and sequence.phase is not None:
            self.log_stint(sequence, sequence.phase)
            self.batch.leave(sequence, sequence.phase, self.passes)
            sequence.preempted_s = self.now_s
            if swap_s_per_block is not None:
                self.extra_s += swap_s_per_block * self.pool.shape.blocks_for(
                    sequence.kv_at(self.passes)
                )
                sequence.swap_out(self.passes)
            else:
                sequence.suspend(self.passes)
        else:  # a prompt half computed starts anew
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
