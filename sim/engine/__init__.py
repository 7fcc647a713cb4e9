"""The SimPy world: requests in, records out. `simulate` is the only door."""

from sim.engine.simulate import Limits, simulate

__all__ = ["Limits", "simulate"]
