"""Questions over many runs: sweeps, and the frontier of decoding strategies."""

from sim.planning.curve import Best, Curve
from sim.planning.frontier import Frontier, frontier
from sim.planning.ladder import Region, Rung
from sim.planning.point import Point
from sim.planning.strategies import Entry
from sim.planning.sweep import Result, run_many
from sim.processes import Failed, Interrupted

__all__ = [
    "Best",
    "Curve",
    "Entry",
    "Failed",
    "Frontier",
    "Interrupted",
    "Point",
    "Region",
    "Result",
    "Rung",
    "frontier",
    "run_many",
]
