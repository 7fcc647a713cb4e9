"""Kinds of arrivals that Explore offers at any rate, by the names that stand in its list."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from sim.workload import Bursts, Constant, Gamma, Poisson, Workload

_MAKE: Final[Mapping[str, Callable[[float], Poisson | Constant | Gamma | Bursts]]] = {
    "Poisson": lambda rate: Poisson(requests_per_s=rate),
    "evenly spaced": lambda rate: Constant(requests_per_s=rate),
    "bursty gaps": lambda rate: Gamma(requests_per_s=rate, cv=2),
    "bursts": lambda rate: Bursts(requests_per_s=rate, factor=5, every_s=60, lasting_s=5),
}
KINDS: Final = tuple(_MAKE)


def name_of(workload: Workload) -> str | None:
    """Return under which name the arrivals of a workload stand; `None` where under none."""
    arrivals = workload.arrivals
    if not isinstance(arrivals, Poisson | Constant | Gamma | Bursts):
        return None
    rate = arrivals.requests_per_s
    return next((name for name, make in _MAKE.items() if make(rate) == arrivals), None)


def keys_of(name: str, requests_per_s: float) -> dict[str, Any]:
    """Return the arrivals of that name as they stand in a scenario file."""
    return _MAKE[name](requests_per_s).model_dump(mode="json", exclude_none=True)
