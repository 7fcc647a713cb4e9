"""The SimPy world: requests in, records out. `simulate` is the only door."""

from sim.engine.habits import Habits
from sim.engine.limits import Limits
from sim.engine.simulate import simulate

__all__ = ["Habits", "Limits", "simulate"]
