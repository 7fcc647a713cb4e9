"""The SimPy world: requests in, records out. `simulate` is the only door."""

from sim.engine.drafting import DraftPricer, draft_pricer
from sim.engine.habits import Habits
from sim.engine.limits import Limits
from sim.engine.simulate import simulate

__all__ = ["DraftPricer", "Habits", "Limits", "draft_pricer", "simulate"]
