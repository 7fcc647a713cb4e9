"""The SimPy world: a source, a router, replicas, and what they wrote down."""

import gc
from array import array
from collections import Counter
from typing import Literal

import numpy as np
import simpy

from sim.cost import ForwardPass
from sim.decoding import Plan, Strategy
from sim.engine.feed import Feed
from sim.engine.fleet import Fleet, Pricing, peak_share
from sim.engine.front_end import front_end_of
from sim.engine.ingress import Ingress
from sim.engine.limits import Limits, never_runs
from sim.engine.log import Log, in_system
from sim.engine.open_loop import OpenLoop
from sim.engine.prefix_cache import Names
from sim.engine.routing import Routing
from sim.engine.sequence import Sequence
from sim.engine.source import ClosedLoop, Sessions, in_order_of_issue, stints_in_order
from sim.engine.visible import gaps_and_first_chunks
from sim.records import IntArray, RequestRecords, Simulation, Status, Traffic
from sim.workload import stream

_MOST_PLANS = 1 << 12


def simulate(
    traffic: Traffic,
    passes: IntArray,
    strategy: Strategy,
    cost: ForwardPass,
    limits: Limits,
    *,
    draft_cost: ForwardPass | None = None,
    mode: Literal["leap", "pass"] = "leap",
    seed: int = 0,
) -> Simulation:
    """Serve the traffic and return what happened to every request.

    `passes` is the strategy's draw for each row, `seed` that of the router's stream. Mode "pass"
    stops at every pass and adds the batch up anew each time: slow, and the check of the leaps
    (both give the same times to 1e-9). `draft_cost` prices a drafter that has layers of its own.
    """
    pricing = Pricing(strategy, cost, draft_cost)
    world = _World(traffic, passes, pricing, limits, leap=mode == "leap", seed=seed)
    world.run()
    return world.result()


class _World:
    """One run: owns the clock, hands rows to replicas and counts them home."""

    def __init__(  # all that a run is made of
        self,
        traffic: Traffic,
        passes: IntArray,
        pricing: Pricing,
        limits: Limits,
        *,
        leap: bool,
        seed: int,
    ) -> None:
        self.traffic, self.strategy = traffic, pricing.strategy
        self.limits = limits.lane
        """Those of each lane; a replica of one lane is that lane."""
        self.env = simpy.Environment()
        self.log = Log(len(traffic))
        self.left = traffic.measured
        self.done = self.env.event()
        self._last_s = 0.0
        self._input = np.ascontiguousarray(traffic.input_tokens, dtype=np.int64).data
        self._output = np.ascontiguousarray(traffic.output_tokens, dtype=np.int64).data
        self._passes = np.ascontiguousarray(passes, dtype=np.int64).data
        blocks = traffic.prefix_blocks if limits.prefix_cache else None
        self.names = None if blocks is None else Names(blocks)
        self._labelled = limits.scheduler.order in {"priority", "fair"}
        habits, replicas = limits.habits, limits.replicas
        self._ingress = Ingress(habits, replicas) if habits and habits.ingress else None
        self._seen_s = traffic.arrival_s
        """When the engine sees each request of an open loop."""
        if self._ingress is not None and traffic.users is None and traffic.turns is None:
            self._seen_s = self._ingress.all_seen_s(traffic)
        fleet = Fleet(
            *(self.env, self.limits, self.names, self.log, self._feed, traffic.measured),
            *(self._accept, self._home, leap),
        )
        self.replicas = fleet.replicas(pricing)
        self.routing = Routing(limits.router, self.replicas, self._input, stream(seed, "router"))
        self.loop: ClosedLoop | Sessions | None = None
        self._plans: dict[tuple[int, int, int], tuple[Plan, int, str | None]] = {}
        self._rejections: Counter[str] = Counter()

    def _feed(self, replica: int) -> Feed:
        """Return the arrivals that a replica can see coming: those of an open loop."""
        traffic = self.traffic
        waits = traffic.users is not None or traffic.turns is not None
        if waits or not self.limits.router.foreseeable:
            return Feed((), ())
        rows = range(replica, len(traffic), self.limits.replicas)
        return Feed(array("d", self._seen_s[rows.start :: rows.step]), rows)

    def run(self) -> None:
        """Run until every measured request has finished or was rejected."""
        if not self.left:
            return
        if self.traffic.turns is not None:
            self.loop = Sessions(self.env, traffic=self.traffic, submit=self._submit)
        elif self.traffic.users is not None:
            self.loop = ClosedLoop(
                self.env,
                users=self.traffic.users,
                rows=len(self.traffic),
                think_s=self.traffic.think_s,
                submit=self._submit,
            )
        elif not self.limits.router.foreseeable:
            order = np.argsort(self._seen_s, kind="stable").tolist()
            times_s = array("d", self._seen_s[order])
            OpenLoop(self.env, times_s, lambda at, *rest: self._route(order[at], *rest))
        collecting = gc.isenabled()
        gc.disable()  # nothing here is cyclic, and each collection would walk every request
        try:
            self.env.run(until=self.done)
        finally:
            if collecting:
                gc.enable()

    def _submit(self, row: int, user: int, at_s: float) -> None:
        if self._ingress is None:
            self._route(row, user, at_s)
            return
        seen_s = self._ingress.seen_s(at_s, self._input[row])
        seen = simpy.Timeout(self.env, seen_s - self.env.now)
        if seen.callbacks is not None:
            seen.callbacks.append(lambda _: self._route(row, user, at_s))

    def _route(self, row: int, user: int, at_s: float) -> None:
        self.replicas[self.routing.choose(row)].submit(row, user, at_s)

    def _accept(self, row: int, user: int, at_s: float) -> Sequence | None:
        """Plan the request and let it in, or reject it: None."""
        log = self.log
        if self._ingress is not None and user < 0:  # a feed tells when the engine sees it
            at_s = float(self.traffic.arrival_s[row])
        log.arrival_s[row] = at_s
        size = self._input[row], self._output[row], self._passes[row]
        planned = self._plans.get(size)
        if planned is None:
            planned = self._plan(size)
        plan, chunks, reason = planned
        if reason is not None:
            log.status[row] = int(Status.REJECTED)
            self._rejections[reason] += self._home(row, user, at_s)
            return None
        log.chunks[row] = chunks
        sequence = Sequence(row, user, at_s, plan)
        if self._labelled:
            sequence.priority = int(self.traffic.priority[row])
            sequence.request_class = int(self.traffic.request_class[row])
        return sequence

    def _plan(self, size: tuple[int, int, int]) -> tuple[Plan, int, str | None]:
        """Return a request's plan, its chunks, and why it can never run; like ones share."""
        plan = self.strategy.plan(*size)
        habits = self.limits.habits
        chunks = plan.chunks if habits is None else habits.chunks(plan)
        planned = plan, chunks, never_runs(self.limits, size[0] + size[1], plan)
        if len(self._plans) < _MOST_PLANS:
            self._plans[size] = planned
        return planned

    def _home(self, row: int, user: int, now_s: float) -> bool:
        """Count a request that has left at `now_s`; tell whether it was a measured one.

        A replica that sees its arrivals coming is ahead of the clock: the end waits for it.
        """
        place = row
        if self.loop is not None:
            self.loop.answered(user)
            place = self.loop.place(row)
        if place >= self.traffic.measured:
            return False
        self.left -= 1
        if now_s > self._last_s:  # noqa: PLR1730  # hot
            self._last_s = now_s
        if not self.left:
            end = simpy.Timeout(self.env, max(0.0, self._last_s - self.env.now))
            if end.callbacks is not None:
                end.callbacks.append(self._end)
        return True

    def _end(self, _: simpy.Event) -> None:
        self.done.succeed()

    def result(self) -> Simulation:
        """Turn the log into records."""
        log, traffic = self.log, self.traffic
        leaps = log.columns([r.in_flight for r in self.replicas if r.in_flight >= 0])
        status, last_token_s = np.asarray(log.status), np.asarray(log.last_token_s)
        status[~np.isnan(last_token_s)] = Status.FINISHED
        arrival_s, first_token_s = np.asarray(log.arrival_s), np.asarray(log.first_token_s)
        entered = ~np.isnan(arrival_s) & (status != Status.REJECTED)
        order = np.arange(len(traffic)) if self.loop is None else self.loop.order()
        places = np.argsort(order)
        counted = places < traffic.measured
        seen = gaps_and_first_chunks(log, leaps, first_token_s, status, counted)
        chunks, kv = np.asarray(log.chunks, dtype=np.int64), self.limits.kv
        records = RequestRecords(
            request_id=np.arange(len(traffic)),
            replica=np.asarray(log.replica, dtype=np.int64) // self.limits.lanes,
            arrival_s=arrival_s,
            admitted_s=np.asarray(log.admitted_s),
            first_token_s=np.where(chunks == 1, last_token_s, seen.first_visible_s),  # to the bit
            last_token_s=last_token_s,
            input_tokens=traffic.input_tokens,
            cached_input_tokens=np.asarray(log.cached_tokens),
            output_tokens=traffic.output_tokens,
            status=status,
            preemptions=np.asarray(log.preemptions, dtype=np.int64),
            chunks=chunks,
            max_gap_s=seen.max_gap_s,
            request_class=traffic.request_class,
        )
        return Simulation(
            records=in_order_of_issue(records, order),
            measured=traffic.measured,
            steady_state=traffic.steady_state,
            closed_loop=traffic.users is not None,
            gaps=seen.gaps,
            in_system=in_system(arrival_s[entered], last_token_s[~np.isnan(last_token_s)]),
            leaps=leaps,
            lanes=self.limits.lanes,
            replicas=self.limits.replicas,
            kv_pool_tokens=kv.tokens_of_one_sequence * self.limits.lanes,
            prefix_cache=self.names is not None,
            kv_peak_share=peak_share(self.replicas, kv, leaps),
            events=len(leaps.passes) + int(entered.sum()),
            rejections=tuple(sorted(self._rejections.items())),
            warmup=traffic.warmup,
            front_end=front_end_of(log, leaps),
            class_names=traffic.class_names,
            stints=stints_in_order(log.stints, places),
            standing=log.habits.standing(),
        )
