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

A preempted request computes its prompt and all that it had committed once more. Where a prefill
yields a token, so does this one, which stands for one of its passes.
"""

from dataclasses import dataclass, field
from math import ceil, inf, nan

from sim.cost import ForwardPass
from sim.decoding import Phase, Plan, Strategy
from sim.engine import Limits
from sim.records import IntArray, Traffic
from tests.engine.counting import blocks, draft_s, pass_load


@dataclass(eq=False)
class Job:
    """One request and what became of it."""

    row: int
    plan: Plan
    arrival_s: float
    user: int
    done: int = 0  # passes behind it, over all phases
    to_compute: int = 0
    computed: int = 0
    chunk: int = 0
    decoding: bool = False
    admitted_s: float = nan
    seen_s: list[float] = field(default_factory=list)  # when each visible chunk came
    last_token_s: float = nan
    preemptions: int = 0
    rejected: bool = False

    def where(self) -> tuple[Phase | None, int]:
        """Phase of the next pass, and passes of it that are behind."""
        before = self.done
        for phase in self.plan.phases:
            if before < phase.passes:
                return phase, before
            before -= phase.passes
        return None, 0

    def kv(self) -> float:
        tokens, left = float(self.plan.prefill_tokens), self.done
        for phase in self.plan.phases:
            tokens += phase.kv_growth * min(left, phase.passes)
            left -= min(left, phase.passes)
        return tokens

    def kv_slots(self) -> float:
        phase, _ = self.where()
        return (
            self.kv() + phase.slots_extra
            if self.decoding and phase
            else self.computed + self.chunk
        )

    def positions(self) -> int:
        phase, _ = self.where()
        return phase.positions if phase else 0

    def step(self, now: float) -> None:
        phase, before = self.where()
        assert phase is not None
        self.done += 1
        last = before + 1 == phase.passes
        if phase.visible_tokens and ((before + 1) % phase.chunk_passes == 0 or last):
            self.seen_s.append(now)

    def drop_kv(self) -> None:
        """Forget the cache; what was committed must be computed again."""
        if self.decoding:
            self.to_compute = ceil(self.kv() - 1e-6) + self.plan.prefill_yields
        self.decoding, self.computed, self.chunk = False, 0, 0
        self.preemptions += 1


class Server:
    def __init__(self, strategy: Strategy, cost: ForwardPass, limits: Limits) -> None:
        self.strategy, self.cost, self.limits = strategy, cost, limits
        self.queue: list[Job] = []
        self.batch: list[Job] = []
        self.ends_s = inf  # the end of the pass in flight, while there is one

    def free(self) -> float:
        kv = self.limits.kv
        return kv.blocks - sum(blocks(job.kv_slots(), kv) for job in self.batch)

    def begin(self, now: float) -> None:
        budget = self.limits.max_batched_tokens
        budget -= sum(job.positions() for job in self.batch if job.decoding)
        for job in self.batch:
            if not job.decoding:
                job.chunk = min(job.to_compute - job.computed, budget)
                budget -= job.chunk
        short = self.free() < 0
        while self.free() < 0:
            newest = self.batch.pop()
            newest.drop_kv()
            self.queue.insert(0, newest)
        while not short and self.queue and self.admits(budget):
            job = self.queue.pop(0)
            self.batch.append(job)
            job.admitted_s = job.admitted_s if job.preemptions else now
            job.decoding = job.to_compute == 0
            job.chunk = min(job.to_compute, budget)
            budget -= job.positions() if job.decoding else job.chunk
        self.ends_s = now + self.pass_s() if self.batch else inf

    def admits(self, budget: int) -> bool:
        """Say whether the head of the queue can come into this pass."""
        head, limits = self.queue[0], self.limits
        prompt = head.to_compute > 0
        everybody = sum(job.positions() for job in [*self.batch, head])
        phase, _ = head.where()
        slots: float = min(head.to_compute, budget)
        if phase and not prompt:
            slots = head.kv() + phase.slots_extra
        return (
            len(self.batch) < limits.max_sequences
            and budget >= (1 if prompt else max(1, head.positions()))
            and everybody <= limits.max_batched_tokens
            and blocks(slots, limits.kv) <= self.free()
        )

    def pass_s(self) -> float:
        active = [(job, job.where()[0]) for job in self.batch if job.decoding]
        decoding = [(job.kv(), phase) for job, phase in active if phase]
        prompts = [(job.chunk, job.computed) for job in self.batch if job.chunk]
        load = pass_load(decoding, prompts, self.cost.reaches)
        seconds, draft = self.cost.pass_s(load), self.strategy.draft_work
        if draft is not None:
            seconds += draft.share * draft_s(self.cost, load, draft.passes_per_round)
        return seconds

    def end(self) -> list[Job]:
        """Finish the pass in flight; return the requests that are complete."""
        now = self.ends_s
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


def serve(
    traffic: Traffic, passes: IntArray, strategy: Strategy, cost: ForwardPass, limits: Limits
) -> list[Job]:
    """Return every request of the traffic, served to the end, in order of rows."""
    servers = [Server(strategy, cost, limits) for _ in range(limits.replicas)]
    source, jobs = Source(traffic), list[Job]()
    while (now := min(source.next_s(), *(server.ends_s for server in servers))) < inf:
        for server in servers:
            if server.ends_s == now:
                for job in server.end():
                    source.answered(job, now)
                server.begin(now)
        while source.next_s() <= now and len(jobs) < len(traffic):
            row, (at_s, user) = len(jobs), source.take()
            asked = source.row_of(row, user)
            sizes = int(traffic.input_tokens[asked]), int(traffic.output_tokens[asked])
            plan = strategy.plan(*sizes, int(passes[asked]))
            job = Job(row, plan, at_s, user, to_compute=plan.prefill_tokens)
            jobs.append(job)
            job.rejected = not fits(job, sum(sizes), limits)
            if job.rejected:
                source.answered(job, now)
            else:
                servers[row % len(servers)].queue.append(job)
        source.ready = source.ready if len(jobs) < len(traffic) else []
        for server in servers:
            if server.ends_s == inf and server.queue:
                server.begin(now)
    return jobs


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
