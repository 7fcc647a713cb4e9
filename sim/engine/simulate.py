"""The SimPy world: a source, a router, replicas, and what they wrote down."""

import gc
from array import array
from dataclasses import dataclass
from typing import Literal

import numpy as np
import simpy

from sim.cost import ForwardPass, KvShape
from sim.decoding import Plan, Strategy
from sim.engine.feed import Feed
from sim.engine.kv_pool import KvPool
from sim.engine.log import Log
from sim.engine.pricing import Pricer
from sim.engine.replica import Replica
from sim.engine.router import RoundRobin
from sim.engine.schedulers import ChunkedPrefill
from sim.engine.sequence import Sequence
from sim.engine.source import ClosedLoop, Sessions, in_order_of_issue
from sim.engine.visible import gaps_and_first_chunks
from sim.records import IntArray, RequestRecords, Simulation, Status, StepSeries, Traffic

_MOST_PLANS = 1 << 12


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes of each replica."""

    replicas: int
    max_sequences: int
    max_batched_tokens: int
    kv: KvShape
    max_context_tokens: int


def simulate(
    traffic: Traffic,
    passes: IntArray,
    strategy: Strategy,
    cost: ForwardPass,
    limits: Limits,
    *,
    mode: Literal["leap", "pass"] = "leap",
) -> Simulation:
    """Serve the traffic and return what happened to every request.

    `passes` is the strategy's draw for each row. Mode "pass" stops at every pass and adds the
    batch up anew each time: slow, and the check of the leaps (both give the same times to 1e-9).
    """
    world = _World(traffic, passes, strategy, cost, limits, leap=mode == "leap")
    world.run()
    return world.result()


class _World:
    """One run: owns the clock, hands rows to replicas and counts them home."""

    def __init__(
        self,
        traffic: Traffic,
        passes: IntArray,
        strategy: Strategy,
        cost: ForwardPass,
        limits: Limits,
        *,
        leap: bool,
    ) -> None:
        self.traffic, self.strategy, self.limits = traffic, strategy, limits
        self.env = simpy.Environment()
        self.log = Log(len(traffic))
        self.left = traffic.measured
        self.done = self.env.event()
        self._last_s = 0.0
        self._input = np.ascontiguousarray(traffic.input_tokens, dtype=np.int64).data
        self._output = np.ascontiguousarray(traffic.output_tokens, dtype=np.int64).data
        self._passes = np.ascontiguousarray(passes, dtype=np.int64).data
        pricer = Pricer(cost, strategy.draft_work)
        self.router = RoundRobin(limits.replicas)
        self.replicas = [
            Replica(
                self.env,
                index,
                pricer=pricer,
                pool=KvPool(limits.kv),
                scheduler=ChunkedPrefill(limits.max_sequences, limits.max_batched_tokens),
                log=self.log,
                feed=(feed := self._feed(index)),
                own=feed.rows_before(traffic.measured),
                accept=self._accept,
                on_finish=self._home,
                leap=leap,
            )
            for index in range(limits.replicas)
        ]
        self.loop: ClosedLoop | Sessions | None = None
        self._plans: dict[tuple[int, int, int], tuple[Plan, int, bool]] = {}

    def _feed(self, replica: int) -> Feed:
        """Return the arrivals that a replica can see coming: those of an open loop."""
        if self.traffic.users is not None or self.traffic.turns is not None:
            return Feed((), ())
        rows = self.router.rows_of(replica, len(self.traffic))
        return Feed(array("d", self.traffic.arrival_s[rows.start :: rows.step]), rows)

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
        collecting = gc.isenabled()
        gc.disable()  # nothing here is cyclic, and each collection would walk every request
        try:
            self.env.run(until=self.done)
        finally:
            if collecting:
                gc.enable()

    def _submit(self, row: int, user: int, at_s: float) -> None:
        self.replicas[self.router.choose()].submit(row, user, at_s)

    def _accept(self, row: int, user: int, at_s: float) -> Sequence | None:
        """Plan the request and let it in, or reject it: None."""
        log = self.log
        log.arrival_s[row] = at_s
        size = self._input[row], self._output[row], self._passes[row]
        planned = self._plans.get(size)
        if planned is None:
            planned = self._plan(size)
        plan, chunks, fits = planned
        if not fits:
            log.status[row] = int(Status.REJECTED)
            self._home(row, user, at_s)
            return None
        log.chunks[row] = chunks
        return Sequence(row, user, at_s, plan)

    def _plan(self, size: tuple[int, int, int]) -> tuple[Plan, int, bool]:
        """Return a request's plan, its chunks, and whether it can ever run; like ones share."""
        plan = self.strategy.plan(*size)
        planned = plan, plan.chunks, self._can_ever_run(size[0] + size[1], plan)
        if len(self._plans) < _MOST_PLANS:
            self._plans[size] = planned
        return planned

    def _can_ever_run(self, context_tokens: int, plan: Plan) -> bool:
        limits = self.limits
        return (
            context_tokens <= limits.max_context_tokens
            and plan.peak_positions <= limits.max_batched_tokens
            and limits.kv.blocks_for(plan.peak_kv_tokens) <= limits.kv.blocks
        )

    def _home(self, row: int, user: int, now_s: float) -> bool:
        """Count a request that has left at `now_s`; tell whether it was a measured one.

        A replica that sees its arrivals coming is ahead of the clock: the end waits for it.
        """
        if self.loop is not None:
            self.loop.answered(user)
        place = row if self.loop is None else self.loop.place(row)
        if place >= self.traffic.measured:
            return False
        self.left -= 1
        self._last_s = max(self._last_s, now_s)
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
        status, last_token_s = np.array(log.status), np.array(log.last_token_s)
        status[~np.isnan(last_token_s)] = Status.FINISHED
        arrival_s = np.array(log.arrival_s)
        entered = ~np.isnan(arrival_s) & (status != Status.REJECTED)
        first_token_s = np.array(log.first_token_s)
        order = np.arange(len(traffic)) if self.loop is None else self.loop.order()
        counted = np.argsort(order) < traffic.measured
        seen = gaps_and_first_chunks(log, leaps, first_token_s, status, counted)
        chunks = np.array(log.chunks, dtype=np.int64)
        records = RequestRecords(
            request_id=np.arange(len(traffic)),
            replica=np.array(log.replica, dtype=np.int64),
            arrival_s=arrival_s,
            admitted_s=np.array(log.admitted_s),
            # what comes in one chunk comes at its end, to the last bit
            first_token_s=np.where(chunks == 1, last_token_s, seen.first_visible_s),
            last_token_s=last_token_s,
            input_tokens=traffic.input_tokens,
            cached_input_tokens=np.zeros(len(traffic), dtype=np.int64),
            output_tokens=traffic.output_tokens,
            status=status,
            preemptions=np.array(log.preemptions, dtype=np.int64),
            chunks=chunks,
            max_gap_s=seen.max_gap_s,
            request_class=traffic.request_class,
        )
        kv = self.limits.kv
        used = kv.share_of(leaps.kv_used_tokens, leaps.sequences)
        return Simulation(
            records=in_order_of_issue(records, order),
            measured=traffic.measured,
            steady_state=traffic.steady_state,
            closed_loop=traffic.users is not None,
            gaps=seen.gaps,
            in_system=_in_system(arrival_s[entered], last_token_s[~np.isnan(last_token_s)]),
            leaps=leaps,
            replicas=self.limits.replicas,
            kv_pool_tokens=kv.tokens_of_one_sequence,
            kv_peak_share=float(used.max(initial=0.0)),
            events=len(leaps.passes) + int(entered.sum()),
            warmup=traffic.warmup,
            class_names=traffic.class_names,
        )


def _in_system(entered_s: np.ndarray, left_s: np.ndarray) -> StepSeries:
    """Count the requests inside after each entering and leaving."""
    times = np.concatenate([entered_s, left_s])
    steps = np.concatenate([np.ones(len(entered_s), int), -np.ones(len(left_s), int)])
    order = np.argsort(times, kind="stable")
    return StepSeries(time_s=times[order], count=np.cumsum(steps[order]))
