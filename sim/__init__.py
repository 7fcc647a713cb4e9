"""Simulate LLM inference: from a scenario to latency, throughput and cost.

Start with `sim.run`, then `sim.scenario`, then `sim.engine.simulate`.
"""

from typing import Final

__version__: Final = "0.1.0"
