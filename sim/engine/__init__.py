"""The SimPy world: requests in, records out. `simulate` is the only door."""

from sim.engine.drafting import DraftPricer, draft_pricer
from sim.engine.simulate import Limits, simulate

__all__ = ["DraftPricer", "Limits", "draft_pricer", "simulate"]
