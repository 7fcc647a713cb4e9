"""Decoding strategies as the knobs of the sidebar show them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sim.decoding import (
    AnyStrategy,
    Autoregressive,
    BlockDiffusion,
    Diffusion,
    RelativeDraft,
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
CACHES: Final = ("none", "prefix", "dual")


@dataclass(frozen=True, slots=True)
class Knobs:
    """The knobs of all strategies, those that are out of sight included."""

    strategy: str = AUTOREGRESSIVE
    draft_tokens: int = 3
    accepted_percent: int = 70
    """Acceptance of the first drafted token."""
    fall_points: int = 5
    """By how many points each further position is accepted less often."""
    drafter_percent: int = 14
    """Work of one drafter pass over that of a pass of the served model."""
    block_tokens: int = 32
    denoise_passes: int = 8
    """Per block."""
    blocks_in_flight: int = 1
    cache: str = "dual"
    canvas_tokens: int = 0
    """0: as long as the answer, in whole blocks."""

    @property
    def acceptance_percent(self) -> tuple[int, ...]:
        """Acceptance of each position, given that all before were accepted; never below none."""
        falls = range(self.draft_tokens)
        return tuple(max(0, self.accepted_percent - fall * self.fall_points) for fall in falls)


def knobs_of(scenario: Scenario) -> Knobs:
    """Return the knobs that spell out the scenario's strategies, the first of each kind."""
    values: dict[str, Any] = {"strategy": _spelt(scenario.decoding) or AS_LISTED}
    for listed in reversed([scenario.decoding, *scenario.strategies]):
        if _spelt(listed) is not None:
            values |= _values(listed)
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
        if _spelt(listed) == knobs.strategy and _values(listed) == _values(strategy):
            return _keys(listed)
    return _keys(strategy)


def _strategy(knobs: Knobs) -> AnyStrategy:
    if knobs.strategy == AUTOREGRESSIVE:
        return Autoregressive()
    if knobs.strategy == BLOCK_DIFFUSION:
        return BlockDiffusion(
            block_tokens=knobs.block_tokens,
            denoise_passes=knobs.denoise_passes,
            blocks_in_flight=knobs.blocks_in_flight,
        )
    if knobs.strategy == DIFFUSION:
        return Diffusion.model_validate(
            {
                "cache": knobs.cache,
                "block_tokens": knobs.block_tokens,
                "denoise_passes": knobs.denoise_passes,
                "canvas_tokens": knobs.canvas_tokens or None,
            }
        )
    return _chain(knobs)


def _chain(knobs: Knobs) -> Speculative:
    return Speculative(
        drafter=f"chain of {knobs.draft_tokens}",
        draft_tokens=knobs.draft_tokens,
        conditional_acceptance=tuple(percent / 100 for percent in knobs.acceptance_percent),
        draft=RelativeDraft(work_share=knobs.drafter_percent / 100),
        source="set on the page",
    )


def _keys(strategy: AnyStrategy) -> dict[str, Any]:
    return strategy.model_dump(mode="json", by_alias=True, exclude_none=True)


def _spelt(strategy: AnyStrategy) -> str | None:
    """Return the kind under which the knobs can spell out a strategy; `None` if they cannot."""
    if isinstance(strategy, Autoregressive):
        return AUTOREGRESSIVE
    if isinstance(strategy, Speculative):
        return SPECULATIVE if any(_chains(strategy)) else None
    kind = BLOCK_DIFFUSION if isinstance(strategy, BlockDiffusion) else DIFFUSION
    values = _values(strategy)
    if not all(isinstance(value, int | str) for value in values.values()):
        return None
    again = _strategy(Knobs(strategy=kind, **values))
    own = {"model": strategy.model, "what_if": strategy.what_if}
    return kind if again.model_copy(update=own) == strategy else None


def _values(strategy: AnyStrategy) -> dict[str, Any]:
    if isinstance(strategy, BlockDiffusion):
        return {
            "block_tokens": strategy.block_tokens,
            "denoise_passes": strategy.denoise_passes,
            "blocks_in_flight": strategy.blocks_in_flight,
        }
    if isinstance(strategy, Diffusion):
        return {
            "cache": strategy.cache,
            "block_tokens": strategy.block_tokens,
            "denoise_passes": strategy.denoise_passes,
            "canvas_tokens": strategy.canvas_tokens or 0,
        }
    return next(_chains(strategy), {})


def _chains(strategy: AnyStrategy) -> Iterator[dict[str, Any]]:
    """Yield the knobs that give exactly these figures, if there are any."""
    if not isinstance(strategy, Speculative) or strategy.conditional_acceptance is None:
        return
    given, draft = strategy.conditional_acceptance, strategy.draft
    if not isinstance(draft, RelativeDraft) or strategy.policy or strategy.tree:
        return
    percents = [round(100 * share) for share in given]
    fall = percents[0] - percents[1] if len(percents) > 1 else 0
    values: dict[str, Any] = {
        "draft_tokens": strategy.draft_tokens,
        "accepted_percent": percents[0],
        "fall_points": fall,
        "drafter_percent": round(100 * draft.work_share),
    }
    again = _chain(Knobs(strategy=SPECULATIVE, **values))
    same = again.conditional_acceptance == given and again.draft == draft
    if same and fall >= 0:
        yield values
