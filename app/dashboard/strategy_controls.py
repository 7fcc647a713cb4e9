"""The knobs of a decoding strategy in the sidebar of Explore."""

from typing import Any

from app.dashboard import denoising_controls, speculation_controls, strategies
from app.dashboard.choices import Choices
from sim.model import Model


def knobs_of_strategy(
    strategy: str, default: Choices, model: Model, *, mixed: bool
) -> dict[str, Any]:
    """Draw the knobs of a strategy and return their values; `mixed`: traffic of named domains."""
    if strategy == strategies.SPECULATIVE:
        return speculation_controls.draw(default, model, mixed=mixed)
    if strategy == strategies.BLOCK_DIFFUSION:
        return denoising_controls.draw_block_diffusion(default, model)
    if strategy == strategies.DIFFUSION:
        return denoising_controls.draw_diffusion(default, model)
    return {}
