"""Decoding strategies: how many passes an answer takes and what each holds.

No clock, no GPU, no batch.

To add one: a new file beside these with a class, and its name in `AnyStrategy` (docs/recipes.md).
"""

from typing import Annotated

from pydantic import Field

from sim.decoding.autoregressive import Autoregressive
from sim.decoding.base import BaseStrategy
from sim.decoding.block_diffusion import BlockDiffusion
from sim.decoding.diffusion import Diffusion
from sim.decoding.plan import DraftWork, Phase, Plan, Strategy, typical_phase
from sim.decoding.speculative import RelativeDraft, Speculative

AnyStrategy = Annotated[
    Autoregressive | Speculative | BlockDiffusion | Diffusion, Field(discriminator="name")
]

__all__ = [
    "AnyStrategy",
    "Autoregressive",
    "BaseStrategy",
    "BlockDiffusion",
    "Diffusion",
    "DraftWork",
    "Phase",
    "Plan",
    "RelativeDraft",
    "Speculative",
    "Strategy",
    "typical_phase",
]
