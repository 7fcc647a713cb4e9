"""Decoding strategies as the knobs of the sidebar show them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from app.dashboard import denoising, speculation
from app.dashboard.denoising import DenoisingKnobs
from app.dashboard.speculation import SpeculationKnobs
from sim.decoding import (
    AnyStrategy,
    Autoregressive,
    BaseStrategy,
    BlockDiffusion,
    Diffusion,
    Speculative,
)
from sim.scenario import Scenario

AUTOREGRESSIVE: Final = "Autoregressive"
SPECULATIVE: Final = "Speculative"
BLOCK_DIFFUSION: Final = "Block diffusion"
DIFFUSION: Final = "Diffusion"
AS_LISTED: Final = "As in the scenario"
"""A strategy of the scenario that the knobs cannot spell out, kept as it is."""
KINDS: Final = (AUTOREGRESSIVE, SPECULATIVE, BLOCK_DIFFUSION, DIFFUSION)


@dataclass(frozen=True)
class Knobs(SpeculationKnobs, DenoisingKnobs):
    """The knobs of all strategies, those that are out of sight included."""

    strategy: str = AUTOREGRESSIVE


def knobs_of(scenario: Scenario) -> Knobs:
    """Return the knobs that spell out the scenario's strategies, the first of each kind."""
    own = scenario.decoding
    values: dict[str, Any] = {"strategy": AS_LISTED if _values(own) is None else kind_of(own)}
    for listed in reversed([own, *scenario.strategies]):
        values |= _values(listed) or {}
    return Knobs(**values)


def decoding_of(knobs: Knobs, base: Scenario, trained: Collection[str]) -> dict[str, Any]:
    """Return the keys of the strategy that the knobs mean.

    One that the scenario lists keeps its source and drafter; any other says where it is from.
    `trained`: the families of strategies that the model was trained for; any other diffusion is
    a what-if.
    """
    if knobs.strategy == AS_LISTED:
        return _keys(base.decoding)
    strategy = _strategy(knobs)
    if strategy.trained_for not in {*trained, "autoregressive"}:
        strategy = strategy.model_copy(update={"what_if": True})
    for listed in [base.decoding, *base.strategies]:
        if kind_of(listed) == knobs.strategy and _values(listed) == _values(strategy):
            return _keys(listed)
    return _keys(strategy)


def kind_of(strategy: BaseStrategy) -> str:
    """Return under which kind a strategy is offered; one that has no knobs is kept as listed."""
    if isinstance(strategy, Autoregressive):
        return AUTOREGRESSIVE
    if isinstance(strategy, Speculative):
        return SPECULATIVE
    if isinstance(strategy, BlockDiffusion):
        return BLOCK_DIFFUSION
    return DIFFUSION if isinstance(strategy, Diffusion) else AS_LISTED


def _strategy(knobs: Knobs) -> AnyStrategy:
    if knobs.strategy == AUTOREGRESSIVE:
        return Autoregressive()
    if knobs.strategy == BLOCK_DIFFUSION:
        return denoising.block_diffusion_of(knobs)
    if knobs.strategy == DIFFUSION:
        return denoising.diffusion_of(knobs)
    return speculation.strategy_of(knobs)


def _values(strategy: BaseStrategy) -> dict[str, Any] | None:
    """Return the knobs that spell out a strategy; None where they cannot."""
    if isinstance(strategy, Autoregressive):
        return {}
    if isinstance(strategy, BlockDiffusion | Diffusion):
        return denoising.values_of(strategy)
    return speculation.values_of(strategy) if isinstance(strategy, Speculative) else None


def _keys(strategy: BaseStrategy) -> dict[str, Any]:
    return strategy.model_dump(mode="json", by_alias=True, exclude_none=True)
