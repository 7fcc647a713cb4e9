"""How much of everything there was in the runs behind an answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.metrics.result import Metrics
from sim.records import Simulation


@dataclass(frozen=True, slots=True)
class Work:
    """What engines did in the runs behind an answer."""

    passes: int
    positions: float
    """Query positions in those passes."""
    events: int
    window_s: float
    """Length of the measured windows, s."""

    @classmethod
    def of(cls, simulation: Simulation, metrics: Metrics) -> "Work":
        """Return the work of one run."""
        leaps = simulation.leaps
        return cls(
            passes=int(leaps.passes.sum()),
            positions=float(leaps.positions.sum()),
            events=simulation.events,
            window_s=metrics.window_s or 0.0,
        )

    @classmethod
    def of_all(cls, parts: Sequence["Work"]) -> "Work":
        """Return the sums over runs."""
        names = ("passes", "positions", "events", "window_s")
        return cls(*(sum(getattr(part, name) for part in parts) for name in names))
