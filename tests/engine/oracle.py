"""A second engine, slow and plain: every pass, every request. No leaps, sums, heaps or SimPy.

It is written from the rules of continuous batching, not from the engine that it checks. At the end
of a pass:

1. Running requests go on. Decoding ones take their positions; prompts share what the token budget
   leaves, oldest first. If KV blocks are short, the newest is sent back to the head of the queue
   without its KV, until the rest fit; then nobody is admitted.
2. Else requests are admitted in order of arrival while the budget, the KV pool and `max_sequences`
   last, and while all that run could decode in one pass. The first that does not fit ends it.
3. Only then those who arrive at this very instant are seen; on an idle replica they start at once,
   together.

Where sequences wait for each other, those that decode go through more passes without prompts.

A preempted request computes its prompt and all that it had committed once more. Where a prefill
yields a token, so does this one, which stands for one of its passes.
"""

from math import inf
from typing import Any

from sim.cost import ForwardPass, PassLoad
from sim.cost.lane import LanePass
from sim.decoding import Strategy
from sim.engine import Limits
from sim.records import IntArray, PrefixBlocks, Traffic
from tests.engine.counting import blocks, pass_load
from tests.engine.oracle_cache import Cache, NoCache, pinned
from tests.engine.oracle_job import Job
from tests.engine.oracle_pipeline import Pipeline
from tests.engine.oracle_policy import Asked
from tests.engine.oracle_routing import Router


class Server:
    def __init__(
        self,
        strategy: Strategy,
        cost: ForwardPass,
        limits: Limits,
        draft_cost: ForwardPass | None,
        names: PrefixBlocks | None,
    ) -> None:
        self.strategy, self.cost, self.limits = strategy, cost, limits
        self.draft_cost = draft_cost
        self.queue: list[Job] = []
        self.batch: list[Job] = []
        self.ends_s = inf  # the end of the pass in flight, while there is one
        self.cache = NoCache(limits.kv) if names is None else Cache(limits.kv, names.block_tokens)
        self.asked = Asked(strategy, cost, draft_cost, limits.max_batched_tokens)

    def free(self) -> float:
        return self.limits.kv.blocks - self.cache.used(self.batch)

    def outstanding(self) -> int:
        return len(self.queue) + len(self.batch)

    def kv_spoken_for(self) -> float:
        """KV of those that decode, in this pass; prompts of all others in full."""
        decoding = sum(job.kv_slots() for job in self.batch if job.decoding)
        others = [*self.queue, *(job for job in self.batch if not job.decoding)]
        return decoding + sum(job.to_compute for job in others)

    def cached(self, job: Job) -> int:
        return len(self.cache.finds(job, self.batch)) * self.cache.block_tokens

    def put(self, job: Job) -> None:
        self.queue.append(job)

    def begin(self, now: float) -> None:
        self.choose(now)
        self.ends_s = now + self.pass_s(self.cost, self.draft_cost) if self.batch else inf

    def choose(self, now: float) -> None:
        self.asked.decide(self.batch)
        budget = self.limits.max_batched_tokens
        budget -= sum(job.positions() for job in self.batch if job.decoding)
        budget = max(0, budget)  # later phases may need more than when they were admitted
        for job in self.batch:
            if not job.decoding:
                job.chunk = min(job.to_compute - job.computed, budget)
                budget -= job.chunk
        short = self.free() < 0
        while self.free() < 0:
            newest = self.batch.pop()
            self.cache.let_go(newest, self.batch)
            newest.drop_kv()
            self.queue.insert(0, newest)
        while not short and self.queue and self.admits(budget):
            job = self.queue.pop(0)
            self.cache.admit(job, self.batch)
            self.batch.append(job)
            job.admitted_s = job.admitted_s if job.preemptions else now
            job.decoding = job.to_compute == 0
            job.chunk = min(job.to_compute - job.computed, budget)
            budget -= job.positions() if job.decoding else job.chunk

    def admits(self, budget: int) -> bool:
        """Say whether the head of the queue can come into this pass."""
        head, limits = self.queue[0], self.limits
        prompt = head.to_compute > 0
        everybody = sum(job.positions() for job in [*self.batch, head])
        phase, _ = head.where()
        found = self.cache.finds(head, self.batch)
        before = len(found) * self.cache.block_tokens
        slots: float = before + min(head.to_compute - before, budget)
        if phase and not prompt:
            slots = head.kv() + phase.slots_extra
        # those that others use already are there in any case
        need = blocks(slots, limits.kv)
        need -= self.cache.unit() * len(pinned(self.batch) & set(found))
        return (
            len(self.batch) < limits.max_sequences
            and budget >= (1 if prompt else max(1, head.positions()))
            and everybody <= limits.max_batched_tokens
            and need <= self.free() + 1e-9
        )

    def load(self) -> PassLoad:
        active = [(job, job.where()[0]) for job in self.batch if job.decoding]
        decoding = [(job.kv(), phase) for job, phase in active if phase]
        prompts = [(job.chunk, job.computed) for job in self.batch if job.chunk]
        return pass_load(decoding, prompts, self.cost.reaches)

    def pass_s(self, cost: ForwardPass, draft_cost: ForwardPass | None) -> float:
        """Time of the pass that was chosen, by the costs of a replica or of a lane."""
        decoding = [job for job in self.batch if job.decoding]
        return self.asked.pass_s(self.load(), decoding, cost, draft_cost)

    def end(self, now: float) -> list[Job]:
        """Finish the pass in flight; return the requests that are complete."""
        self.cache.pass_ends(self.batch)
        for job in self.batch:
            if job.decoding:
                job.step(now)
                continue
            job.computed, job.chunk = job.computed + job.chunk, 0
            if job.computed == job.to_compute:
                if job.plan.prefill_yields and not job.seen_s:
                    job.seen_s.append(now)
                elif job.plan.prefill_yields and job.where()[0]:
                    job.step(now)
                job.decoding = True
        complete = [job for job in self.batch if job.decoding and job.where()[0] is None]
        for job in complete:
            job.last_token_s = now
            self.batch.remove(job)
            self.cache.let_go(job, self.batch, finished=True)
        return complete


class Source:
    """Who comes next, and when: a list of (time, user or row)."""

    def __init__(self, traffic: Traffic) -> None:
        self.rows, self.think_s, self.turns = len(traffic), traffic.think_s, traffic.turns
        self.closed = traffic.users is not None
        times = traffic.arrival_s.tolist()
        self.ready = list(zip(times[: traffic.users], range(self.rows), strict=False))
        if self.turns is not None:
            starts = self.turns.first[:-1].tolist()
            self.ready = [(times[row], row) for row in starts[: traffic.users]]
            self.later = starts[len(self.ready) :]

    def row_of(self, issued: int, number: int) -> int:
        """Which row of the traffic this is: they come in order, unless they are turns."""
        return issued if self.turns is None else number

    def next_s(self) -> float:
        return min(self.ready)[0] if self.ready else inf

    def take(self) -> tuple[float, int]:
        first = min(self.ready)
        self.ready.remove(first)
        return first

    def answered(self, job: Job, now: float) -> None:
        """Let the user think and come again, while there are rows."""
        if self.turns is not None:
            ended = job.user + 1 in self.turns.first
            follows = [job.user + 1] if not ended else self.later[:1] if self.closed else []
            self.later = self.later[1:] if ended and self.closed else self.later
            self.ready += [(now + float(self.turns.pause_s[row]), row) for row in follows]
        elif self.closed:
            self.ready.append((now + self.think_s, job.user))


def serve(  # noqa: PLR0917  # as `simulate`
    traffic: Traffic,
    passes: IntArray,
    strategy: Strategy,
    cost: ForwardPass,
    limits: Limits,
    draft_cost: ForwardPass | None = None,
) -> list[Job]:
    """Return every request of the traffic, served to the end, in order of rows."""
    names = traffic.prefix_blocks if limits.prefix_cache else None
    servers = servers_of(strategy, cost, limits, draft_cost, names)
    router = Router(limits.router, [*servers], seed=0)
    source, jobs = Source(traffic), list[Job]()
    while (now := min(source.next_s(), *(server.ends_s for server in servers))) < inf:
        for server in servers:
            if server.ends_s == now:
                for job in server.end(now):
                    source.answered(job, now)
                server.begin(now)
        while source.next_s() <= now and len(jobs) < len(traffic):
            row, (at_s, user) = len(jobs), source.take()
            asked = source.row_of(row, user)
            sizes = int(traffic.input_tokens[asked]), int(traffic.output_tokens[asked])
            plan = strategy.plan(*sizes, int(passes[asked]))
            job = Job(row, plan, at_s, user, to_compute=plan.prefill_tokens)
            job.names = names_of(asked, names)
            jobs.append(job)
            job.rejected = not fits(job, sum(sizes), limits.lane)
            job.server = router.choose(job)
            if job.rejected:
                source.answered(job, now)
            else:
                servers[job.server].put(job)
        source.ready = source.ready if len(jobs) < len(traffic) else []
        for server in servers:
            if server.ends_s == inf and server.queue:
                server.begin(now)
    return jobs


def servers_of(
    strategy: Strategy,
    cost: ForwardPass,
    limits: Limits,
    draft_cost: ForwardPass | None,
    names: PrefixBlocks | None,
) -> list[Any]:
    """Return the replicas: servers, or pipelines of servers that decide without other ranks."""
    several = limits.lanes > 1
    own, drafts = cost, draft_cost
    if several:
        own, drafts = LanePass(cost), draft_cost and LanePass(draft_cost)

    def one() -> Server:
        return Server(strategy, own, limits.lane, drafts, names)

    count = range(limits.replicas)
    return [Pipeline(one, cost, limits, drafts) if several else one() for _ in count]


def names_of(row: int, names: PrefixBlocks | None) -> list[int]:
    if names is None:
        return []
    found: list[int] = names.hashes[names.offsets[row] : names.offsets[row + 1]].tolist()
    return found


def fits(job: Job, tokens: int, limits: Limits) -> bool:
    """Say whether the request could run on an empty replica."""
    room, kv = [float(job.plan.prefill_tokens)], float(job.plan.prefill_tokens)
    for phase in job.plan.phases:
        room += [kv + phase.kv_growth * n + phase.slots_extra for n in range(phase.passes)]
        kv += phase.kv_growth * phase.passes
    return (
        tokens <= limits.max_context_tokens
        and blocks(max(room), limits.kv) <= limits.kv.blocks
        and all(phase.positions <= limits.max_batched_tokens for phase in job.plan.phases)
    )
