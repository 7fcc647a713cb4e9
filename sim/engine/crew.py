"""A replica of several lanes: attention-data ranks that wait for each other, and microbatches.

The lanes of one microbatch (a *group*) run each pass together, and it takes as long as the
slowest of them. The groups follow each other through the pipeline in turn: at the end of a tick
the pass of one group comes out, its lanes decide on the next one, and that goes in. A group with
nothing to do leaves a bubble. With one stage a tick is a pass.
"""

from collections.abc import Callable
from collections.abc import Sequence as Collection
from math import inf

import simpy

from sim.cost.lane import LanePass
from sim.engine.feed import Feed
from sim.engine.lane import Lane
from sim.engine.sequence import Sequence
from sim.engine.ticks import Line, Ticks

_FOREVER = 1 << 60


class Crew:
    """Lanes that share the GPUs of one replica, and their common clock."""

    in_flight = -1
    """Nothing stands in the log before it is over."""

    def __init__(
        self,
        env: simpy.Environment,
        lanes: Collection[Lane],
        *,
        ranks: int,
        cost: LanePass,
        feed: Feed,
        accept: Callable[[int, int, float], Sequence | None],
        leap: bool,
    ) -> None:
        self.env, self.lanes, self.feed, self.accept = env, lanes, feed, accept
        self.cost, self.leaping = cost, leap
        self._groups = [lanes[at : at + ranks] for at in range(0, len(lanes), ranks)]
        stages = len(self._groups)
        self._stages, self._ticks = stages, Ticks(stages)
        self._flying = [False] * stages
        """Groups whose pass is in the pipeline."""
        self._begun_s = [0.0] * stages
        self._tick = self._ahead = 0
        """Ticks that are over, and those of the leap in flight."""
        self._start_s = 0.0
        self._pending: simpy.Timeout | None = None
        self._await_feed()

    # -- arrivals -----------------------------------------------------------------------------

    def submit(self, row: int, user: int, at_s: float) -> None:
        """Queue a request; it is seen when its lane's next pass begins."""
        sequence = self.accept(row, user, at_s)
        if sequence is None:
            return
        self._deal(sequence)
        if self._pending is None:  # requests that arrive at the same instant start together
            self._schedule(0.0, self._wake)
        elif self._ahead > 1:
            self._cut()

    def _next_lane(self) -> Lane:
        """Return the lane with the fewest requests; of equals, the first."""
        return min(self.lanes, key=lambda lane: lane.outstanding)

    def _deal(self, sequence: Sequence) -> None:
        self._next_lane().take(sequence)

    def _take_next(self) -> None:
        row, at_s = self.feed.take()
        sequence = self.accept(row, -1, at_s)
        if sequence is not None:
            self._deal(sequence)

    def _await_feed(self) -> None:
        self._pending, self._ahead = None, 0
        if self.feed.next_s < inf:
            self._schedule(max(0.0, self.feed.next_s - self.env.now), self._wake)

    def _wake(self, _: simpy.Event) -> None:
        first_s = self.feed.next_s
        while self.feed.next_s == first_s < inf:
            self._take_next()
        self._begin(self.env.now)

    # -- passes -------------------------------------------------------------------------------

    def _boundary(self, _: simpy.Event) -> None:
        """Account for the ticks that have gone by; a pass comes out, and the next goes in."""
        now, ticks = self.env.now, self._ahead
        out = (self._tick + ticks) % self._stages
        for group in range(self._stages):
            if self._flying[group]:
                self._count(group, ticks, comes_out=group == out)
        self._tick += ticks
        while self.feed.next_s < now:  # dealt by what the lanes held when they came
            self._take_next()
        if self._flying[out]:
            for lane in self._groups[out]:
                if lane.running:
                    lane.settle(now)
        self._begin(now)

    def _count(self, group: int, ticks: int, *, comes_out: bool) -> None:
        """Write down the passes of a group that came out in the leap."""
        stages, times, start_s = self._stages, self._ticks, self._start_s
        ahead = self._ticks_ahead(group)
        passes = 0 if ticks <= ahead else 1 + (ticks - 1 - ahead) // stages
        passes += comes_out
        if not passes:
            return
        begun_s, first_out_s = self._begun_s[group], start_s + times.after(ahead)
        second_s = times.after(ahead + stages) - times.after(ahead) if passes > 1 else 0.0
        for lane in self._groups[group]:
            if not lane.running:
                continue
            if begun_s == start_s:  # it has just gone in: all its passes are on one line
                lane.went_by(passes, begun_s, times.after(stages), times.round_slope_s)
                continue
            lane.went_by(1, begun_s, first_out_s - begun_s, 0.0)
            if passes > 1:
                lane.went_by(passes - 1, first_out_s, second_s, times.round_slope_s)
        self._begun_s[group] = start_s + times.after(ahead + (passes - 1) * stages)

    def _ticks_ahead(self, group: int) -> int:
        """Ticks until the group's turn, from the beginning of the leap."""
        return (group - self._tick) % self._stages or self._stages

    def _begin(self, now: float) -> None:
        """Let the group whose turn it is decide; then leap to the next moment that matters."""
        self._go_in(self._tick % self._stages, now)
        if not any(self._flying):
            turns = [(self._ticks_ahead(g), g) for g in range(self._stages) if self._waits(g)]
            if not turns:
                self._await_feed()
                return
            passed, group = min(turns)  # nobody is on the stages: the turns before are skipped
            self._tick += passed
            self._go_in(group, now)
        self._start_s, ahead = now, self._most_ticks()
        coming_s = self.feed.next_s - now
        if coming_s < self._ticks.after(ahead):
            ahead = self._ticks.tick_at(coming_s, ahead)
        self._ahead = ahead
        self._schedule(self._ticks.after(ahead), self._boundary)

    def _waits(self, group: int) -> bool:
        return any(lane.waiting for lane in self._groups[group])

    def _go_in(self, group: int, now: float) -> None:
        """Let the lanes of a group decide on their next pass, together."""
        lanes = self._groups[group]
        for lane in lanes:
            lane.decide(now)
        busy = [lane for lane in lanes if lane.running]
        tokens = sum(lane.tokens for lane in busy)
        for lane in busy:
            self.cost.other_tokens = tokens - lane.tokens
            lane.price(self.cost)
        self._flying[group], self._begun_s[group] = bool(busy), now

    def _most_ticks(self) -> int:
        """Plan the ticks to come; return how many there are before a lane must decide."""
        stages, most = self._stages, _FOREVER
        alone = sum(self._flying) == 1
        lines: list[Line] = []
        for group, lanes in enumerate(self._groups):
            ahead = self._ticks_ahead(group)
            for lane in lanes:
                if lane.untried:
                    most = min(most, ahead)
                if not lane.running or not self._flying[group]:
                    continue
                most = min(most, ahead + (lane.steps - 1) * stages)
                if alone:  # no other pass to wait for: through all stages, long and short
                    line = Line(ahead, lane.pass_s / stages, lane.pass_slope_s / stages)
                else:
                    line = Line(ahead, lane.stage_s, lane.stage_slope_s)
                lines.append(line)
        return self._ticks.plan(lines, most if self.leaping else 1)

    # -- time ---------------------------------------------------------------------------------

    def _passes_behind(self) -> list[int]:
        """Passes of each group that have come out in the leap in flight."""
        ticks = 0
        if self._ahead > 1:
            ticks = self._ticks.tick_at(self.env.now - self._start_s, self._ahead) - 1
        aheads = map(self._ticks_ahead, range(self._stages))
        return [0 if ticks < ahead else 1 + (ticks - ahead) // self._stages for ahead in aheads]

    def held_in_flight(self) -> float:
        """Return the KV tokens of the decoding requests in their passes in flight."""
        held = 0.0
        for lanes, behind in zip(self._groups, self._passes_behind(), strict=True):
            held += sum(lane.batch.held + lane.batch.growth * behind for lane in lanes)
        return held

    def cached_tokens(self, row: int, tokens: int) -> int:
        """Return the tokens of a prompt of `tokens` that are where it would go now."""
        next_lane = self._next_lane()
        for lanes, behind in zip(self._groups, self._passes_behind(), strict=True):
            if next_lane in lanes:
                return next_lane.cached_tokens_after(behind, row, tokens)
        raise AssertionError(row)  # pragma: no cover - each lane is in a group

    def _schedule(self, delay_s: float, callback: Callable[[simpy.Event], None]) -> None:
        self._pending = pending = simpy.Timeout(self.env, delay_s)
        if pending.callbacks is not None:
            pending.callbacks.append(callback)

    def _cut(self) -> None:
        """End the leap in flight with the tick in flight."""
        pending = self._pending
        done = self._ticks.tick_at(self.env.now - self._start_s, self._ahead)
        if done < self._ahead and pending is not None and pending.callbacks is not None:
            pending.callbacks.clear()
            self._ahead = done
            end_s = self._start_s + self._ticks.after(done)
            self._schedule(end_s - self.env.now, self._boundary)
