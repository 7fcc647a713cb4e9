"""A prefix cache by hand: a list of idle blocks, and what the running requests say they use.

1. A request that is admitted finds the first blocks of its prompt that are there, all but its last
   token at most; they are pinned, once however many use them.
2. At the end of a pass the idle blocks whose room it needed go, who was let go first goes first.
   Then the whole blocks that prompts have computed are shared; what is there twice is kept once.
3. Who finishes or is preempted lets its blocks go, the last one first. Who finishes leaves the
   named blocks of its answer too, before those.
"""

from math import ceil

from sim.cost import KvShape
from tests.engine.counting import blocks
from tests.engine.oracle_job import Job


class Cache:
    def __init__(self, kv: KvShape, block_tokens: int) -> None:
        self.kv, self.block_tokens = kv, block_tokens
        self.idle: list[int] = []

    def unit(self) -> float:
        """KV blocks of a named one."""
        return self.kv.full * self.block_tokens / self.kv.block_tokens

    def whole(self, job: Job, tokens: float) -> list[int]:
        return job.names[: int((tokens + 1e-6) // self.block_tokens)]

    def used(self, batch: list[Job]) -> float:
        own = sum(blocks(job.kv_slots(), self.kv) - self.unit() * len(job.shared) for job in batch)
        return own + self.unit() * len(pinned(batch))

    def finds(self, job: Job, batch: list[Job]) -> list[int]:
        prompt = min(job.plan.prefill_tokens, job.to_compute - 1)
        there, found = pinned(batch) | set(self.idle), []
        for name in self.whole(job, prompt) if prompt > 0 else []:
            if name not in there:
                break
            found.append(name)
        return found

    def admit(self, job: Job, batch: list[Job]) -> None:
        job.shared = self.finds(job, batch)
        self.idle = [name for name in self.idle if name not in job.shared]
        job.computed = len(job.shared) * self.block_tokens
        if not job.preemptions:
            job.cached = job.computed

    def pass_ends(self, batch: list[Job]) -> None:
        """Before anything else changes."""
        short = self.used(batch) + self.unit() * len(self.idle) - self.kv.blocks
        if self.idle and short > 1e-9:
            self.idle = self.idle[ceil(short / self.unit() - 1e-9) :]
        for job in batch:
            if not job.decoding:
                done = min(job.computed + job.chunk, job.plan.prefill_tokens)
                job.shared = self.whole(job, done)
                self.idle = [name for name in self.idle if name not in job.shared]

    def let_go(self, job: Job, others: list[Job], *, finished: bool = False) -> None:
        """`others` is who runs on."""
        names = job.shared
        if finished:
            shown = job.plan.prefill_tokens + job.plan.visible_tokens
            names = self.whole(job, min(job.kv(), shown))
        for name in reversed(names):
            if name not in pinned(others):
                self.idle = [other for other in self.idle if other != name]
                self.idle.append(name)
        job.shared = []


class NoCache(Cache):
    def __init__(self, kv: KvShape) -> None:
        super().__init__(kv, 1 << 60)

    def unit(self) -> float:
        return 0.0


def pinned(batch: list[Job]) -> set[int]:
    return {name for job in batch for name in job.shared}
