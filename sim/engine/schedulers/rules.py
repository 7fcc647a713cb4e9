"""Rules beside the plain one (first come, first served; nobody waits without need)."""

from dataclasses import dataclass
from math import inf

from sim.engine.queues import PickUpQueue, Queue
from sim.engine.sequence import Sequence
from sim.engine.state import ReplicaState


@dataclass(slots=True)
class Rules:
    """Caps, gates and the choice of victims; one instance a replica."""

    prompts: float = inf
    """Prompts in one pass, at most."""
    prefill_tokens: float = inf
    """Prompt tokens in one pass, at most."""
    pick_up: bool = False
    """New requests are seen late (`PickUpQueue`)."""
    hold_passes: int = 0
    hold_tokens: float = inf
    """Tokens waiting and decoding from which nothing is held."""
    by_priority: bool = False
    """The least urgent is preempted first; of several the newest."""
    swap_s_per_block: float | None = None
    """Time to move a KV block to the host or back; None: preempted KV is dropped."""
    hold_until: int | None = None
    """Count of passes at which those held go in; None: nobody is held."""
    let_go: int = -1
    """Count of passes when those held went in last."""

    @property
    def only_pick_up(self) -> bool:
        """Whether nothing differs from the plain rules but that new requests are seen late."""
        plain = Rules(pick_up=self.pick_up, hold_tokens=self.hold_tokens)
        return self == plain

    def look(self, replica: ReplicaState) -> None:
        """Let new requests be seen whose time has come; call it before every pass."""
        waiting = replica.waiting
        if self.pick_up and isinstance(waiting, PickUpQueue):
            replica.horizon = waiting.look(
                replica.turns, idle=not replica.running, prompts=bool(replica.prefilling)
            )

    def queue(self, replica: ReplicaState) -> Queue:
        """Return the requests that may be admitted now, in order."""
        waiting = replica.waiting
        return waiting.seen if isinstance(waiting, PickUpQueue) else waiting

    def lets_in(self, replica: ReplicaState, queue: Queue, head: Sequence) -> bool:
        """Tell whether the head, which fits, is admitted now; bring back its KV if swapped."""
        if head.target and self.hold_passes and self._holds(replica, queue):
            return False
        if head.swapped:
            self._comes_back(replica, head)
        return True

    def _holds(self, replica: ReplicaState, queue: Queue) -> bool:
        """Tell whether prompts are held back, to batch them; once let go, all go in that pass."""
        now = replica.turns
        if self.let_go == now:
            return False
        if self.hold_until is None:
            self.hold_until = now + self.hold_passes
        if self.hold_until <= now or not replica.batch.members or self._enough(replica, queue):
            self.hold_until, self.let_go = None, now
            return False
        left = self.hold_until - now
        replica.horizon = min(replica.horizon or left, left)
        return True

    def _enough(self, replica: ReplicaState, queue: Queue) -> bool:
        tokens = replica.batch.positions
        for sequence in queue:
            if tokens >= self.hold_tokens:
                break
            tokens += sequence.target
        return tokens >= self.hold_tokens

    def preempt(self, replica: ReplicaState) -> None:
        """Send the newest request back, of those that are least urgent."""
        running = replica.running.values()
        if self.by_priority:
            victim = max(running, key=lambda sequence: (sequence.priority, sequence.serial))
        else:
            victim = next(reversed(running))
        replica.preempt(victim, self.swap_s_per_block)

    def _comes_back(self, replica: ReplicaState, sequence: Sequence) -> None:
        """Count the time of moving a swapped request's KV to the GPU before the coming pass."""
        blocks = replica.pool.shape.blocks_for(sequence.kv)
        replica.extra_s += (self.swap_s_per_block or 0.0) * blocks
        replica.horizon = 1
        sequence.swapped = False
