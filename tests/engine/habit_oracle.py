"""The second engine with schedulers and habits: lists that are searched anew before every pass.

Rules on top of those in `oracle`:

- Who is first in the queue is looked up each time, by the order that is asked for.
- Where passes are separate, those who decode stand still while anybody computes a prompt. Waves:
  prompts may begin when nobody runs (static) or few decode (decode first), and until a pass
  decodes.
- A front end works off chunks one after the other: what a pass makes is seen when all before it
  and itself are through. The user asks again when the answer is seen, the place is free before;
  nobody knows before then what a user will ask next: another may begin that session meanwhile.
"""

from dataclasses import dataclass, field
from math import floor, inf, isnan
from typing import Any

from sim.cost import ForwardPass
from sim.decoding import Strategy
from sim.engine import Limits
from sim.engine.habits import Habits
from sim.records import IntArray, Traffic
from tests.engine.counting import blocks, pass_load
from tests.engine.oracle import Source, fits
from tests.engine.oracle_job import Job
from tests.engine.oracle_policy import Asked


@dataclass(eq=False)
class Guest(Job):
    """A request that may wait unseen, be swapped, and see its tokens late."""

    asked: int = 0
    """Its row in the traffic; `row` is its place in the order of issue."""
    tokens: int = 0
    priority: int = 0
    request_class: int = 0
    unseen_until: int | None = None
    swapped: bool = False
    charged: bool = False
    made_first: bool = False
    held_tokens: float = 0.0
    """Made and not handed out yet."""

    def tokens_per_pass(self) -> float:
        phase, _ = self.where()
        assert phase is not None
        return phase.visible_tokens / phase.passes

    def every(self, habits: Habits) -> int:
        """Passes from one chunk to the next in the current phase."""
        phase, _ = self.where()
        assert phase is not None
        each = self.tokens_per_pass() * phase.chunk_passes
        chunks = 1
        while each and chunks * each < habits.stream_interval_tokens - 1e-6:
            chunks += 1
        return chunks * phase.chunk_passes

    def share(self, habits: Habits) -> float:
        """Chunks that a pass makes on average."""
        phase, _ = self.where()
        return 1 / self.every(habits) if phase and phase.visible_tokens else 0.0

    def hides_first(self, habits: Habits) -> bool:
        if habits.stream_first_token or not self.plan.phases:
            return False
        return self.every(habits) > 1

    def step_seen(self, seen_s: float, habits: Habits) -> None:
        phase, before = self.where()
        assert phase is not None
        self.held_tokens += self.tokens_per_pass()
        self.done += 1
        if not phase.visible_tokens:
            return
        last, whole = before + 1 == phase.passes, (before + 1) % phase.chunk_passes == 0
        due = self.held_tokens > habits.stream_interval_tokens - 1e-6
        if last or (whole and (due or habits.stream_interval_tokens == 1)):
            self.seen_s.append(seen_s)
            self.held_tokens = 0.0

    def prefilled(self, seen_s: float, habits: Habits) -> None:
        """Show the token that a prefill yields, or hold it; a second one is a pass."""
        if self.plan.prefill_yields and self.made_first and self.where()[0]:
            self.step_seen(seen_s, habits)
        elif self.plan.prefill_yields and self.hides_first(habits):
            self.held_tokens = 1.0
        elif self.plan.prefill_yields:
            self.seen_s.append(seen_s)
        self.made_first = True

    def chunks_of_prefill(self, habits: Habits) -> float:
        if not self.plan.prefill_yields:
            return 0.0
        if not self.where()[0] or not (self.made_first or self.hides_first(habits)):
            return 1.0
        return self.share(habits)


@dataclass(eq=False)
class HabitServer:
    strategy: Strategy
    cost: ForwardPass
    limits: Limits
    draft_cost: ForwardPass | None = None
    queue: list[Guest] = field(default_factory=list)
    unseen: list[Guest] = field(default_factory=list)
    batch: list[Guest] = field(default_factory=list)
    ends_s: float = inf
    turns: int = 0
    without_prompts: int = 0
    """Passes since the last that held prompts."""
    decode_passes: int = 0
    wave: int = -1
    hold_until: int | None = None
    work_s: float = 0.0
    """Of the front end, at the last end of a pass."""
    work_at_s: float = 0.0
    extra_s: float = 0.0
    served: dict[int, float] = field(default_factory=dict)
    last_served: float = 0.0

    def __post_init__(self) -> None:
        self.habits = self.limits.habits or Habits()
        self.rules: Any = self.limits.scheduler
        self.asked = Asked(
            self.strategy, self.cost, self.draft_cost, self.limits.max_batched_tokens
        )

    @property
    def separate(self) -> bool:
        return bool(self.rules.kind != "chunked_prefill")

    # -- the queue ----------------------------------------------------------------------------

    def come(self, job: Guest) -> None:
        if self.habits.pick_up_passes or self.habits.pick_up_every_passes > 1:
            self.unseen.append(job)
        else:
            self.line_up(job)

    def line_up(self, job: Guest, *, back: bool = False) -> None:
        mine = job.request_class
        if not any(other.request_class == mine for other in self.queue):
            waiting = [self.served[other.request_class] for other in self.queue]
            floor_ = min(waiting, default=self.last_served)
            self.served[mine] = max(self.served.get(mine, 0.0), floor_)
        self.queue.insert(0, job) if back else self.queue.append(job)

    @property
    def looks(self) -> bool:
        """Whether the engine looks for prompts: count the passes since one that held any."""
        return self.without_prompts % self.habits.pick_up_every_passes == 0

    def look(self) -> None:
        for job in list(self.unseen):
            if job.unseen_until is None:
                job.unseen_until = self.turns + self.habits.pick_up_passes
            if not self.batch or (self.looks and job.unseen_until <= self.turns):
                self.unseen.remove(job)
                self.line_up(job)

    def head(self) -> Guest:
        order, ageing = self.rules.order, self.rules.ageing_s
        if order == "fcfs":
            return self.queue[0]
        if order == "fair":
            number = min(
                (self.served[job.request_class], job.request_class) for job in self.queue
            )[1]
            return next(job for job in self.queue if job.request_class == number)

        def key(job: Guest) -> tuple[float, float, int]:
            size = job.priority if order == "priority" else job.plan.prefill_tokens
            if ageing is not None:
                per = ageing if order == "priority" else ageing / 1000
                return job.arrival_s + size * per, job.arrival_s, job.asked
            return size, job.arrival_s, job.asked

        return min(self.queue, key=key)

    def take(self, job: Guest) -> None:
        self.queue.remove(job)
        if self.rules.order == "fair":
            weights, number = self.rules.class_weights, job.request_class
            if not job.charged:
                weight = weights[number] if number < len(weights) else 1.0
                tokens = job.plan.prefill_tokens + job.plan.visible_tokens
                self.served[number] += tokens / weight
            self.last_served = self.served[number]
        job.charged = True

    # -- what goes into a pass ----------------------------------------------------------------

    def needs(self, job: Guest, slots: float) -> float:
        if self.habits.whole_answer:
            return blocks(most_kv(job), self.limits.kv)
        return blocks(slots, self.limits.kv)

    def free(self) -> float:
        return self.limits.kv.blocks - sum(self.needs(j, j.kv_slots()) for j in self.batch)

    def begin(self, now: float) -> None:
        self.asked.decide(self.batch)
        self.look()
        tokens = self.limits.max_batched_tokens
        if not self.separate:
            tokens -= sum(job.positions() for job in self.batch if job.decoding)
            tokens = max(0, tokens)
        prompts = min(tokens, self.rules.max_prefill_tokens_per_pass or inf)
        for job in self.batch:
            if not job.decoding:
                job.chunk = int(min(job.to_compute - job.computed, prompts))
                tokens, prompts = tokens - job.chunk, prompts - job.chunk
        short = self.free() < 0
        while self.free() < 0:
            self.preempt()
        if not short and self.lets_in():
            self.admit(now, tokens, prompts)
        self.ends_s = now + self.pass_s() if self.batch else inf

    def preempt(self) -> None:
        victim = self.batch[-1]
        if self.rules.order == "priority":
            least = max(job.priority for job in self.batch)
            victim = [job for job in self.batch if job.priority == least][-1]
        self.batch.remove(victim)
        if victim.decoding and self.rules.preemption == "swap":
            self.extra_s += self.limits.swap_s_per_block * blocks(victim.kv(), self.limits.kv)
            victim.decoding, victim.swapped, victim.to_compute = False, True, 0
            victim.preemptions += 1
        else:
            victim.drop_kv()
        self.line_up(victim, back=True)

    def lets_in(self) -> bool:
        if self.rules.kind in {"chunked_prefill", "prefill_first"}:
            return True
        if not self.queue and not self.unseen:
            return False
        few = floor(getattr(self.rules, "refill_share", 0) * self.limits.max_sequences)
        decoding = sum(job.decoding for job in self.batch)
        begins = decoding <= few if self.rules.kind == "decode_first" else not self.batch
        if begins:
            self.wave = self.decode_passes
        return self.wave == self.decode_passes

    def admit(self, now: float, tokens: int, prompts: float) -> None:
        asked = False
        while self.queue and self.fits_now(self.head(), tokens, prompts):
            job = self.head()
            if job.to_compute and not asked:
                asked = True
                if self.holds():
                    return
            self.take(job)
            self.batch.append(job)
            if isnan(job.admitted_s):
                job.admitted_s = now
            if job.swapped:
                self.extra_s += self.limits.swap_s_per_block * blocks(job.kv(), self.limits.kv)
                job.swapped = False
            job.decoding = job.to_compute == 0
            job.chunk = int(min(job.to_compute, prompts, tokens))
            prompts -= job.chunk
            tokens -= job.chunk
            if job.decoding and not self.separate:
                tokens -= job.positions()

    def fits_now(self, head: Guest, tokens: int, prompts: float) -> bool:
        limits, prompt = self.limits, head.to_compute > 0
        phase, _ = head.where()
        slots: float = min(head.to_compute, prompts, tokens)
        if phase and not prompt:
            slots = head.kv() + phase.slots_extra
        computing = sum(not job.decoding for job in self.batch)
        return (
            len(self.batch) < limits.max_sequences
            and tokens >= (1 if prompt else max(1, head.positions()))
            and (not prompt or prompts >= 1)
            and (not prompt or computing < (self.rules.max_prompts_per_pass or inf))
            and sum(j.positions() for j in [*self.batch, head]) <= limits.max_batched_tokens
            and self.needs(head, slots) <= self.free()
        )

    def holds(self) -> bool:
        habits = self.habits
        if not habits.hold_passes:
            return False
        if self.hold_until is None:
            self.hold_until = self.turns + habits.hold_passes
        decoding = [job for job in self.batch if job.decoding]
        waiting = sum(job.to_compute for job in self.queue)
        waiting += sum(job.positions() for job in decoding)
        enough = waiting >= habits.hold_token_share * self.limits.max_batched_tokens
        if self.turns >= self.hold_until or not decoding or enough:
            self.hold_until = None
        return self.hold_until is not None

    def stands_still(self) -> bool:
        return self.separate and not all(job.decoding for job in self.batch)

    def pass_s(self) -> float:
        still = self.stands_still()
        active = [job for job in self.batch if job.decoding and not still]
        going = [(job.kv(), job.where()[0]) for job in active]
        decoding = [(kv, phase) for kv, phase in going if phase]
        prompts = [(job.chunk, job.computed) for job in self.batch if job.chunk]
        load = pass_load(decoding, prompts, self.cost.reaches)
        seconds = self.asked.pass_s(load, active, self.cost, self.draft_cost)
        seconds, self.extra_s = seconds + self.extra_s, 0.0
        return seconds

    def end(self) -> list[Guest]:
        now, habits, still = self.ends_s, self.habits, self.stands_still()
        stepping = [job for job in self.batch if job.decoding and not still]
        ready = [
            job
            for job in self.batch
            if not job.decoding and job.computed + job.chunk == job.to_compute
        ]
        chunks = sum(job.share(habits) for job in stepping)
        chunks += sum(job.chunks_of_prefill(habits) for job in ready)
        left_s = max(0.0, self.work_s - (now - self.work_at_s))
        self.work_s = left_s + chunks * habits.front_end_s_per_chunk
        self.work_at_s, seen_s = now, now + self.work_s
        self.turns += 1
        prompts = any(not job.decoding for job in self.batch)
        self.without_prompts = 0 if prompts else self.without_prompts + 1
        self.decode_passes += not still
        for job in stepping:
            job.step_seen(seen_s, habits)
        for job in self.batch:
            if not job.decoding:
                job.computed, job.chunk = job.computed + job.chunk, 0
        for job in ready:
            job.prefilled(seen_s, habits)
            job.decoding = True
        complete = [job for job in self.batch if job.decoding and job.where()[0] is None]
        for job in complete:
            job.last_token_s = seen_s
            self.batch.remove(job)
        return complete


def most_kv(job: Job) -> float:
    """Most KV tokens of a request in any of its passes."""
    kv = most = float(job.plan.prefill_tokens)
    for phase in job.plan.phases:
        for number in range(phase.passes):
            most = max(most, kv + phase.kv_growth * number + phase.slots_extra)
        kv += phase.kv_growth * phase.passes
    return most


class Asking(Source):
    """Who asks next, and who has asked and is not seen by the engine yet."""

    def __init__(self, traffic: Traffic, habits: Habits, replicas: int) -> None:
        super().__init__(traffic)
        self.traffic, self.habits, self.issued = traffic, habits, 0
        self.tokenised_s = [0.0] * replicas
        """When each replica's tokeniser is through with all it has been given."""
        self.on_the_way: list[tuple[float, int, Guest]] = []
        self.handed_out: list[tuple[float, Guest]] = []
        """Answers, and when the front end will be through with each."""

    def next_s(self) -> float:
        asks_s = super().next_s() if self.issued < self.rows else inf
        answers_s = [seen_s for seen_s, _ in self.handed_out]
        return min([asks_s, *answers_s, *(seen_s for seen_s, _, _ in self.on_the_way)])

    def hear(self, now: float) -> None:
        """Let users have the answers that are seen by now."""
        for seen_s, job in [answer for answer in self.handed_out if answer[0] <= now]:
            self.handed_out.remove((seen_s, job))
            self.answered(job, seen_s)

    def ask(self, now: float, strategy: Strategy, passes: IntArray) -> None:
        while self.issued < self.rows and super().next_s() <= now:
            asked_s, user = self.take()
            asked, traffic = self.row_of(self.issued, user), self.traffic
            sizes = int(traffic.input_tokens[asked]), int(traffic.output_tokens[asked])
            plan = strategy.plan(*sizes, int(passes[asked]))
            job = Guest(self.issued, plan, asked_s, user, to_compute=plan.prefill_tokens)
            job.asked, job.tokens = asked, sum(sizes)
            job.priority = int(traffic.priority[asked])
            job.request_class = int(traffic.request_class[asked])
            turn = self.issued % len(self.tokenised_s)
            begun_s = max(asked_s, self.tokenised_s[turn])
            self.tokenised_s[turn] = begun_s + self.habits.ingress_s_per_token * sizes[0]
            seen_s = self.tokenised_s[turn] + self.habits.ingress_s
            self.on_the_way.append((seen_s, self.issued, job))
            self.on_the_way.sort(key=lambda each: each[:2])
            self.issued += 1

    def seen(self, now: float) -> Guest | None:
        """Return the next request that the engine sees by now."""
        if not self.on_the_way or self.on_the_way[0][0] > now:
            return None
        return self.on_the_way.pop(0)[-1]


def serve_with_habits(
    traffic: Traffic,
    passes: IntArray,
    strategy: Strategy,
    cost: ForwardPass,
    limits: Limits,
    *,
    draft_cost: ForwardPass | None = None,
) -> list[Guest]:
    """Return every request of the traffic, served to the end, in order of issue."""
    count = range(limits.replicas)
    servers = [HabitServer(strategy, cost, limits, draft_cost) for _ in count]
    source, jobs = Asking(traffic, servers[0].habits, len(servers)), list[Guest]()
    while (now := min(source.next_s(), *(server.ends_s for server in servers))) < inf:
        for server in servers:
            if server.ends_s == now:
                source.handed_out += [(job.last_token_s, job) for job in server.end()]
                server.begin(now)
        source.hear(now)
        source.ask(now, strategy, passes)
        while (come := source.seen(now)) is not None:
            jobs.append(come)
            come.rejected = not fits(come, come.tokens, limits)
            if come.rejected:
                source.answered(come, now)
                source.ask(now, strategy, passes)
            else:
                turn = len(jobs) - 1 if source.closed or source.turns is not None else come.row
                servers[turn % len(servers)].come(come)
        for server in servers:
            if server.ends_s == inf and (server.queue or server.unseen):
                server.begin(now)
    return sorted(jobs, key=lambda job: job.row)
