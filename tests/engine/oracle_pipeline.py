"""Lanes by hand: ranks that wait for each other, microbatches that move up a stage each tick.

1. A replica has `microbatches` groups of `ranks` lanes. A lane is a server with its own queue, an
   even share of places and KV blocks; ranks share the token budget of a pass evenly.
2. A request goes, when it arrives, to the lane with the fewest requests; of equals, to the first.
3. The pipeline has a stage for each group. At the end of a tick all move up a stage; what was on
   the last one comes out, and its group may send its next pass into the first stage. The groups
   take turns; when nothing is on any stage, turns without work are skipped.
4. A pass takes as long on a stage as its slowest rank; a tick lasts as long as the slowest pass on
   any stage. A pass alone in the pipeline takes its time through all stages in equal parts.
"""

from math import ceil, inf
from typing import Any

from sim.cost import ForwardPass
from sim.cost.lane import lane_pass
from tests.engine.counting import verified

NO_HOST = {
    "host_s_per_pass": 0.0,
    "host_s_per_sequence": 0.0,
    "host_s_per_prefill_pass": 0.0,
    "host_s_per_prompt": 0.0,
    "eager_host_s_per_pass": 0.0,
    "host_s_per_launch": 0.0,
}


def without_host(cost: Any) -> ForwardPass:
    """The same machine, whose passes take what the GPU takes."""
    engine = cost.engine.model_copy(update=NO_HOST)
    machine = cost.model, cost.gpu, cost.fitted, engine, cost.deployment
    return ForwardPass(*machine, reaches=cost.reaches)


class Pipeline:
    """Stands in for one server."""

    def __init__(self, make_lane: Any, cost: Any, limits: Any, draft_cost: Any) -> None:
        self.cost, self.draft_cost, self.groups = lane_pass(cost), draft_cost, []
        self.bare = lane_pass(without_host(cost))
        for _ in range(limits.microbatches):
            self.groups.append([make_lane() for _ in range(limits.ranks)])
        self.stages: list[int | None] = [None] * limits.microbatches
        self.turn = 0  # of which group
        self.ends_s = inf
        self.times: dict[int, tuple[float, float]] = {}  # on a stage, through all

    @property
    def lanes(self) -> list[Any]:
        return [lane for group in self.groups for lane in group]

    @property
    def queue(self) -> list[Any]:
        return [job for lane in self.lanes for job in lane.queue]

    def next_lane(self) -> Any:
        return min(self.lanes, key=lambda lane: lane.outstanding())

    def put(self, job: Any) -> None:
        self.next_lane().put(job)

    def outstanding(self) -> int:
        return int(sum(lane.outstanding() for lane in self.lanes))

    def kv_spoken_for(self) -> float:
        return float(sum(lane.kv_spoken_for() for lane in self.lanes))

    def cached(self, job: Any) -> int:
        return int(self.next_lane().cached(job))

    def end(self, now: float) -> list[Any]:
        """A tick is over."""
        out = self.stages.pop()
        self.stages.insert(0, None)
        self.turn = (self.turn + 1) % len(self.groups)
        assert out in {None, self.turn}
        if out is None:
            return []
        return [job for lane in self.groups[out] for job in lane.end(now)]

    def begin(self, now: float) -> None:
        self.go_in(now)
        if self.stages == [None] * len(self.stages) and self.queue:
            while not any(lane.queue for lane in self.groups[self.turn]):
                self.turn = (self.turn + 1) % len(self.groups)
            self.go_in(now)
        self.ends_s = now + self.tick_s()

    def go_in(self, now: float) -> None:
        group = self.groups[self.turn]
        for lane in group:
            lane.choose(now)
        if not any(lane.batch for lane in group):
            return
        self.stages[0] = self.turn
        loads = [lane.load() for lane in group]
        tokens = [load.positions + load.prefill_tokens for load in loads]
        on_stage, through = [], []
        for lane, load, own in zip(group, loads, tokens, strict=True):
            if own:
                self.cost.other_tokens = self.bare.other_tokens = sum(tokens) - own
                through.append(float(lane.pass_s(self.cost, self.draft_cost)))
                on_stage.append(self.stage_s(through[-1], load, lane.asked.mode))
        self.times[self.turn] = max(on_stage), max(through)

    def tick_s(self) -> float:
        there = [group for group in self.stages if group is not None]
        if len(there) == 1:
            return self.times[there[0]][1] / len(self.stages)
        return max((self.times[group][0] for group in there), default=inf)

    def stage_s(self, pass_s: float, load: Any, mode: Any) -> float:
        """The longest stage; the host works for the first one, the LM head is on the last."""
        cost, count = self.cost, load.sequences + load.prefill_sequences
        if cost.layout.pipeline == 1:
            return pass_s
        layers = cost.model.num_layers
        host = self.host_s(count, load)
        head = cost.dense.logits_s(load.logit_positions + load.prefill_sequences)
        share = ceil(layers / cost.layout.pipeline) / layers
        starts = host + share * self.launching_s(load)
        own = load if mode is None else verified(load, mode.verified_share)
        wait_s = max(0.0, self.beside_s(own) - self.bare.pass_s(own))
        if cost.engine.asynchronous:  # the host works for one pass while the GPU is at another
            return float(max(starts, (pass_s - wait_s - head) * share + head))
        return float(max(starts, (pass_s - wait_s - host - head) * share + max(host, head)))

    def beside_s(self, load: Any) -> float:
        """What the host does while the GPU is at the same pass."""
        count = load.sequences + load.prefill_sequences
        own_s = self.host_s(count, load) if self.cost.engine.asynchronous else 0.0
        return self.launching_s(load) + own_s

    def host_s(self, count: int, load: Any) -> float:
        engine = self.cost.engine
        seconds = engine.host_s_per_pass + engine.host_s_per_sequence * count
        if load.prefill_sequences:
            seconds += engine.host_s_per_prefill_pass
            seconds += engine.host_s_per_prompt * load.prefill_sequences
        graphs, tokens = engine.graph_batch_sizes, load.positions + load.prefill_tokens
        if graphs and tokens > graphs[-1]:
            seconds += engine.eager_host_s_per_pass
        return float(seconds)

    def launching_s(self, load: Any) -> float:
        """Kernels that no graph holds are started one by one, each stage its own."""
        engine, tokens = self.cost.engine, load.positions + load.prefill_tokens
        graphs = engine.graph_batch_sizes
        if tokens <= graphs[-1] if graphs else not load.prefill_sequences:
            return 0.0
        kernels = self.cost.launches.count(load.sequences, load.prefill_sequences)
        return float(engine.host_s_per_launch * kernels)
