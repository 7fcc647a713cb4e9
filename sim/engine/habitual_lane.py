"""A lane with habits: passes of prompts only, swapped KV, tokens that users see late."""

from sim.engine.habitual import HabitualReplica
from sim.engine.lane import Lane
from sim.engine.log import LEAP


class HabitualLane(HabitualReplica, Lane):
    """As `HabitualReplica`, on the clock of a crew."""

    def went_by(self, passes: int, start_s: float, first_s: float, slope_s: float) -> None:
        """Write down like passes that are over, and hand out their tokens."""
        self.in_flight = len(self.log.leaps)
        if self._stands_still:
            self.log.habits.paused.append(self.in_flight // LEAP.size)
        leap, own = self._leap, (self._leap.first_s, self._leap.slope_s)
        if self.habits.front_end_s_per_chunk:
            leap.start_s, leap.passes = start_s, passes
            leap.first_s, leap.slope_s = first_s, slope_s
            super()._hand_out(start_s + leap.after(passes))
            leap.first_s, leap.slope_s = own
        super().went_by(passes, start_s, first_s, slope_s)
        self.in_flight = -1

    def _hand_out(self, now: float) -> None:
        """Nothing is left to do: see `went_by`."""
