"""Arrivals that Explore offers at any rate, by the names that stand in its list."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sim.workload import Bursts, Constant, Diurnal, Gamma, Poisson, Workload

POISSON: Final = "Poisson"
CONSTANT: Final = "evenly spaced"
GAMMA: Final = "bursty gaps"
BURSTS: Final = "bursts"
DAY: Final = "over the day"
AS_LISTED: Final = "as in the scenario"
KINDS: Final = (POISSON, CONSTANT, GAMMA, BURSTS, DAY)


@dataclass(frozen=True)
class ArrivalKnobs:
    """How requests come in an open loop."""

    arrivals: str = POISSON
    gap_cv: float = 2.0
    """Coefficient of variation of the gaps."""
    burst_factor: float = 5.0
    burst_every_s: float = 60.0
    burst_lasting_s: float = 5.0
    swing_percent: int = 50
    """How far the rate rises over its mean at the peak, and falls below it 12 h later."""
    peak_hour: float = 14.0
    start_hour: int = 14
    """Hour of the day at which the run begins."""


_KEYS: Final[Mapping[str, Callable[[ArrivalKnobs], dict[str, Any]]]] = {
    POISSON: lambda _: {"kind": "poisson"},
    CONSTANT: lambda _: {"kind": "constant"},
    GAMMA: lambda knobs: {"kind": "gamma", "cv": knobs.gap_cv},
    BURSTS: lambda knobs: {
        "kind": "bursts",
        "factor": knobs.burst_factor,
        "every_s": knobs.burst_every_s,
        "lasting_s": knobs.burst_lasting_s,
    },
    DAY: lambda knobs: {
        "kind": "diurnal",
        "swing": knobs.swing_percent / 100,
        "peak_hour": knobs.peak_hour,
        "start_hour": knobs.start_hour,
    },
}


def keys_of(knobs: ArrivalKnobs, requests_per_s: float) -> dict[str, Any]:
    """Return the arrivals as they stand in a scenario file."""
    return {**_KEYS[knobs.arrivals](knobs), "requests_per_s": requests_per_s}


def values_of(workload: Workload) -> dict[str, Any]:
    """Return the knobs that spell out the arrivals of a workload, or that none does."""
    given = workload.arrivals
    values: dict[str, Any] = {"arrivals": AS_LISTED}
    if isinstance(given, Poisson):
        values = {"arrivals": POISSON}
    elif isinstance(given, Constant):
        values = {"arrivals": CONSTANT}
    elif isinstance(given, Gamma):
        values = {"arrivals": GAMMA, "gap_cv": given.cv}
    elif isinstance(given, Bursts):
        values = {
            "arrivals": BURSTS,
            "burst_factor": given.factor,
            "burst_every_s": given.every_s,
            "burst_lasting_s": given.lasting_s,
        }
    elif isinstance(given, Diurnal):
        values = {
            "arrivals": DAY,
            "swing_percent": round(100 * (0.5 if given.swing is None else given.swing)),
            "peak_hour": 14.0 if given.peak_hour is None else given.peak_hour,
            "start_hour": given.start_hour,
        }
    return values if _same(given, values) else {"arrivals": AS_LISTED}


def _same(given: Any, values: Mapping[str, Any]) -> bool:  # noqa: ANN401  # a union with tags
    """Tell whether the knobs give the same arrivals back."""
    if values["arrivals"] == AS_LISTED or not hasattr(given, "requests_per_s"):
        return False
    keys = keys_of(ArrivalKnobs(**values), given.requests_per_s)
    plain = {"swing": 0.5, "peak_hour": 14.0}
    told = given.model_dump(mode="json", exclude_defaults=True)
    mine = type(given).model_validate(keys).model_dump(mode="json", exclude_defaults=True)
    if isinstance(given, Diurnal) and given.hours is None:
        told = plain | told
    return bool(told == mine)
