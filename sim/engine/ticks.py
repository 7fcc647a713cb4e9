"""Time in a pipeline whose microbatches march in step.

A *tick* is the time for which every microbatch stays on its stage: the slowest one sets it. With p
stages a microbatch's pass comes out p ticks after it went in, and the next one goes in at once. As
long as all decode, the time of each microbatch on a stage is a straight line in the number of its
pass, and so the ticks repeat in rounds of p: the tick in place q of round r takes
`first[q] + r * slope[q]`, until another microbatch becomes the slowest there.
"""

from collections.abc import Sequence
from math import floor
from typing import NamedTuple


class Line(NamedTuple):
    """The time on a stage of the pass in flight of one lane, and of those that follow."""

    ahead: int
    """Ticks until the pass in flight comes out, 1 to the number of stages."""
    first_s: float
    slope_s: float


class Ticks:
    """Ticks to come; written anew for each leap."""

    __slots__ = ("first_s", "round_first_s", "round_slope_s", "slope_s", "stages")

    def __init__(self, stages: int) -> None:
        self.stages = stages
        self.first_s, self.slope_s = [0.0] * stages, [0.0] * stages
        self.round_first_s = self.round_slope_s = 0.0

    def plan(self, lines: Sequence[Line], most: int) -> int:
        """Take the slowest lane in each place of a round; return for how many ticks this holds."""
        stages = self.stages
        for place in range(min(stages, most)):
            # a lane whose pass has come out before this place is already in its next one
            here = [
                (line.first_s + line.slope_s * (place >= line.ahead), line.slope_s)
                for line in lines
            ]
            first_s, slope_s = max(here)
            rounds = most // stages + 1
            for other_s, other_slope_s in here:
                if other_slope_s > slope_s:
                    meet = (first_s - other_s) / (other_slope_s - slope_s)
                    rounds = min(rounds, floor(meet) + 1) if meet < rounds else rounds
            self.first_s[place], self.slope_s[place] = first_s, slope_s
            most = min(most, place + stages * rounds)
        self.round_first_s, self.round_slope_s = sum(self.first_s), sum(self.slope_s)
        return most

    def after(self, ticks: int) -> float:
        """Return the time of the first `ticks` ticks, s."""
        rounds, rest = divmod(ticks, self.stages)
        whole_s = rounds * self.round_first_s + self.round_slope_s * (rounds * (rounds - 1) / 2)
        for place in range(rest):
            whole_s += self.first_s[place] + rounds * self.slope_s[place]
        return whole_s

    def tick_at(self, elapsed_s: float, most: int) -> int:
        """Return the number of the tick in flight (from 1, at most `most`) after `elapsed_s`.

        A tick that ends at that very moment is over.
        """
        low, high = 0, most  # `low` ticks are over, and no more than `high` - 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.after(middle) <= elapsed_s else (low, middle)
        return high
