"""The same run on a machine that is slower or faster by one factor, without touching its costs.

If every time of the machine is multiplied by k and the requests arrive k times later, everything
happens k times later: so serving requests that arrive k times sooner and multiplying every time
by k afterwards is the run with k times longer passes. This holds for whatever model of time.
"""

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from sim.records import Simulation, Traffic, WeightedSamples

Record = TypeVar("Record")


def sooner(traffic: Traffic, factor: float) -> Traffic:
    """Return the traffic with all its times divided by a factor."""
    return _times(traffic, 1 / factor)


def later(simulation: Simulation, factor: float) -> Simulation:
    """Return what happened with all times multiplied by a factor: of passes, gaps and requests."""
    gaps = WeightedSamples(simulation.gaps.values * factor, simulation.gaps.weights)
    return replace(_times(simulation, factor), gaps=gaps)


def _times(record: Record, factor: float) -> Record:
    """Return a dataclass with every field that is a time (`_s`, not `_per_s`) multiplied."""
    changes: dict[str, Any] = {}
    for field in fields(record):  # type: ignore[arg-type]  # a dataclass, whichever
        value = getattr(record, field.name)
        if is_dataclass(value) and not isinstance(value, type):
            changes[field.name] = _times(value, factor)
        elif field.name.endswith("_per_s"):
            changes[field.name] = _scaled(value, 1 / factor)
        elif field.name.endswith("_s"):
            changes[field.name] = _scaled(value, factor)
    return replace(record, **changes)  # type: ignore[type-var]  # a dataclass, whichever


def _scaled(value: Any, factor: float) -> Any:  # noqa: ANN401  # a number, a column, or nothing
    return value * factor if isinstance(value, float | int | np.ndarray) else value
