"""From assumptions to seconds: the phases of a cold start, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.cold_start.assumptions import Assumptions, Range
from sim.cold_start.settings import ColdStart
from sim.units import GB


@dataclass(frozen=True, slots=True)
class ColdFacts:
    """What a cold start depends on besides assumptions, of one replica."""

    weight_bytes: float
    """All that is read from storage: the weights of the whole replica."""
    layers: int
    machines: int
    """Over which the replica stretches; each reads its own share."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase: how long it takes, s, and between what bounds."""

    name: str
    seconds: float
    low_s: float
    high_s: float
    source: str
    as_of: str


def phases(settings: ColdStart, assumed: Assumptions, facts: ColdFacts) -> tuple[Phase, ...]:
    """Return the phases until a replica is ready; those of one machine, all start at once.

    weights: bytes / machines / min(storage, loader), both in B/s.
    """
    return (
        _plain("provision", settings.provision_s, assumed.provision_s),
        _image(settings, assumed),
        _weights(settings, assumed, facts),
        _plain("engine init", settings.engine_init_s, assumed.engine_init_s),
        _plain("compile", settings.compile_s, assumed.compile_s_per_layer, facts.layers),
        _plain("graph capture", settings.graph_capture_s, assumed.graph_capture_s),
        _plain("warm-up", settings.warm_up_s, assumed.warm_up_s),
    )


def total(parts: Sequence[Phase]) -> Phase:
    """Return the time until a replica is ready: the sum, and the sums of the bounds."""
    return Phase(
        "ready",
        sum(part.seconds for part in parts),
        sum(part.low_s for part in parts),
        sum(part.high_s for part in parts),
        "sum of the phases",
        "undated",
    )


def _plain(name: str, given_s: float | None, assumed: Range, times: float = 1.0) -> Phase:
    """Return a phase that is assumed as a time, or given by the scenario."""
    if given_s is not None:
        return _given(name, given_s)
    return Phase(
        name,
        *(assumed.value * times, assumed.low * times, assumed.high * times),
        assumed.source,
        assumed.as_of,
    )


def _given(name: str, seconds: float) -> Phase:
    return Phase(name, seconds, seconds, seconds, "given by the scenario", "undated")


def _image(settings: ColdStart, assumed: Assumptions) -> Phase:
    size = _range(settings.image_gb, assumed.image_gb)
    rate = _range(settings.image_gb_per_s, assumed.image_gb_per_s)
    return Phase(
        "image pull",
        *(size.value / rate.value, size.low / rate.high, size.high / rate.low),
        rate.source,
        rate.as_of,
    )


def _weights(settings: ColdStart, assumed: Assumptions, facts: ColdFacts) -> Phase:
    """Return the time to read the weights: the slower of storage and loader decides."""
    storage = _range(settings.storage_gb_per_s, assumed.storage_gb_per_s)
    loader = _range(settings.loader_gb_per_s, assumed.loader_gb_per_s[settings.loader])
    share = facts.weight_bytes / facts.machines / GB
    # Weights in the memory of the machine are not read from storage.
    cached = settings.loader == "page_cache"

    def slower(from_storage: float, by_loader: float) -> float:
        return by_loader if cached else min(from_storage, by_loader)

    binding = loader if cached or loader.value <= storage.value else storage
    return Phase(
        "weights",
        share / slower(storage.value, loader.value),
        share / slower(storage.high, loader.high),
        share / slower(storage.low, loader.low),
        binding.source,
        binding.as_of,
    )


def _range(given: float | None, assumed: Range) -> Range:
    if given is None:
        return assumed
    return Range(
        value=given, low=given, high=given, source="given by the scenario", as_of="undated"
    )
