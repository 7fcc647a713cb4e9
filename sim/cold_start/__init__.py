"""The cold path: how long a replica takes from nothing until it is ready, phase by phase.

Start with `settings` (what a scenario may say), then `phases` (what follows from it).
"""

from sim.cold_start.assumptions import Assumptions, Range, load_assumptions
from sim.cold_start.phases import ColdFacts, Phase, phases, total
from sim.cold_start.settings import ColdStart

__all__ = [
    "Assumptions",
    "ColdFacts",
    "ColdStart",
    "Phase",
    "Range",
    "load_assumptions",
    "phases",
    "total",
]
