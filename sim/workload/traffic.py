"""Requests meet times: the traffic of an open loop, a closed loop, or a trace."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np

from sim.errors import InputError
from sim.records import FloatArray, Traffic, Turns
from sim.units import counted
from sim.workload.arrivals import ClosedLoop, Constant, Gamma, OpenLoop, Poisson
from sim.workload.classes import Kind
from sim.workload.drawing import Requests, blocks_of, draw_requests, draw_sessions
from sim.workload.sessions import Sessions
from sim.workload.streams import stream
from sim.workload.trace_rows import TraceRows

_TAIL_ROWS: Final = 20_000
"""Background rows keep the load up while the last measured requests are served."""
_SAMPLE_ROWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked, whenever it is."""

    kinds: Sequence[Kind]
    sessions: Sessions | None
    block_tokens: int
    """Tokens by which it is told what begins alike."""
    context_tokens: int | None
    """The model's; sessions end there."""
    warmup: int | None
    """Requests in front of the counted ones; `None`: none, and the metrics look for a warm-up."""
    cooldown: int | None
    """Requests behind them; `None`: as the kind of traffic needs."""

    def draw(self, rows: int, seed: int) -> Requests:
        """Return `rows` requests, or as few sessions as hold them."""
        if self.sessions is None:
            return draw_requests(self.kinds, rows, seed)
        return draw_sessions(
            self.kinds, self.sessions, rows, seed, context_tokens=self.context_tokens
        )

    def traffic(
        self,
        requests: Requests,
        arrival_s: FloatArray,
        measured: int,
        *,
        turns: Turns | None,
        loop: ClosedLoop | None = None,
        steady_state: bool = False,
    ) -> Traffic:
        """Return the traffic of these requests."""
        priorities = np.array([one.priority for one in self.kinds], np.int64)
        return Traffic(
            arrival_s,
            requests.input_tokens,
            requests.output_tokens,
            measured,
            users=None if loop is None else loop.users,
            think_s=0.0 if loop is None else loop.think_s,
            steady_state=steady_state,
            warmup=self.warmup,
            request_class=requests.kind,
            priority=priorities[requests.kind],
            class_names=tuple(one.name for one in self.kinds),
            prefix_blocks=blocks_of(self.kinds, requests, self.block_tokens),
            turns=turns,
        )

    def mean_turns(self, seed: int) -> float:
        """Return the turns of a session on average, those that the context cuts off left out.

        What the context leaves is seen from the first sessions, however many are drawn.
        """
        if self.sessions is None:
            return 1.0
        sample, turns = self.draw(_SAMPLE_ROWS, seed), self.sessions.turns
        sessions = 0 if sample.sessions is None else len(sample.sessions.counts)
        return turns.mean * len(sample) / int(turns.draw(sessions, stream(seed, "turns")).sum())

    def pauses_s(self, requests: Requests, seed: int) -> FloatArray:
        """Return the pause before each turn, s."""
        if self.sessions is None or requests.drawn is None:
            raise TypeError("these requests are no sessions")  # our mistake, not the user's
        drawn = self.sessions.pauses_s(int(requests.drawn[-1]) + 1, stream(seed, "think"))
        return drawn[requests.drawn]


def draw_open(arrivals: OpenLoop, asked: Asked, requests: int, seed: int) -> Traffic:
    """Return requests that do not wait for answers, and more of them in the background."""
    measured = (asked.warmup or 0) + requests
    tail = asked.cooldown
    if tail is None:
        tail = min(requests, _TAIL_ROWS + requests // 20)
    drawn = asked.draw(measured + tail, seed)
    steady = isinstance(arrivals, Poisson | Constant | Gamma)
    groups, sessions, turns = drawn.sessions, asked.sessions, None
    times_of = stream(seed, "arrivals")
    if groups is None or sessions is None:
        arrival_s = _that_come(arrivals.times_s(len(drawn), times_of))
        come = len(arrival_s)
        drawn = drawn if come == len(drawn) else drawn.first_rows(come)
    else:
        starts = arrivals.at_rate(arrivals.mean_requests_per_s / asked.mean_turns(seed))
        arrival_s = _that_come(starts.times_s(len(groups.counts), times_of))
        drawn = drawn.first_sessions(len(arrival_s))
        groups, come = drawn.sessions or groups, len(drawn)
        arrival_s = np.repeat(arrival_s, groups.counts)
        turns = Turns(groups.first, asked.pauses_s(drawn, seed))
    if come < measured:
        raise InputError(
            f"only {come:,} of {measured:,} requests arrive: then the rate is 0 for good",
            where="workload.arrivals",
            remedy="lower `run.requests`, or end on a rate above 0",
        )
    return asked.traffic(drawn, arrival_s, measured, turns=turns, steady_state=steady)


def _that_come(times_s: FloatArray) -> FloatArray:
    return times_s[np.isfinite(times_s)]


def draw_closed(loop: ClosedLoop, asked: Asked, requests: int, seed: int) -> Traffic:
    """Return the requests of users who wait for their answers."""
    measured, sessions = (asked.warmup or 0) + requests, asked.sessions
    tail = asked.cooldown or 0
    if sessions is not None and asked.cooldown is None:
        tail = loop.users * ceil(sessions.turns.mean)  # the last sessions of all users
    drawn = asked.draw(measured + tail, seed)
    groups = drawn.sessions
    begun = len(drawn) if groups is None else len(groups.counts)
    if begun < loop.users or measured < loop.users:
        raise InputError(
            f"{loop.users} users cannot all be busy with {counted(requests, 'request')}",
            where="workload.arrivals.users",
            remedy="raise `run.requests`, to several for each user",
        )
    turns = None
    if groups is not None:
        pauses_s = asked.pauses_s(drawn, seed)
        between = stream(seed, "think between sessions")
        pauses_s[groups.first[:-1]] = loop.pauses_s(len(groups.counts), between)
        turns = Turns(groups.first, pauses_s)
    elif loop.pauses_vary:
        pauses_s = loop.pauses_s(len(drawn), stream(seed, "think"))
        turns = Turns(np.arange(len(drawn) + 1), pauses_s)
    return asked.traffic(drawn, np.zeros(len(drawn)), measured, turns=turns, loop=loop)


def replay(
    rows: TraceRows, rate_scale: float, warmup: int | None, cooldown: int | None
) -> Traffic:
    """Return a trace as it was recorded, faster or slower; its ends uncounted where asked."""
    measured = len(rows) - (cooldown or 0)
    if measured <= (warmup or 0):
        raise InputError(
            f"none of the {len(rows):,} requests is left between warm-up and cool-down",
            where="workload.warmup_requests",
            remedy="lower it, or `cooldown_requests`",
        )
    return Traffic(
        rows.arrival_s / rate_scale,
        rows.input_tokens,
        rows.output_tokens,
        measured=measured,
        warmup=warmup,
        request_class=rows.classes,
        class_names=rows.class_names,
        prefix_blocks=rows.prefix_blocks,
    )
