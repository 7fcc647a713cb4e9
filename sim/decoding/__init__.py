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
from sim.decoding.drafters import (
    BlockDraft,
    EagleDraft,
    MedusaDraft,
    ModelDraft,
    MtpDraft,
    NgramDraft,
    OwnDraft,
    RelativeDraft,
    Tree,
)
from sim.decoding.plan import DraftPass, DraftWork, Phase, Plan, Strategy, typical_phase
from sim.decoding.policies import Adaptive, AnyPolicy, FixedDrafts, OffAbove
from sim.decoding.published import (
    AcceptanceTable,
    list_acceptance,
    load_acceptance,
    published_variant,
)
from sim.decoding.rounds import verifying
from sim.decoding.speculative import Speculative

AnyStrategy = Annotated[
    Autoregressive | Speculative | BlockDiffusion | Diffusion, Field(discriminator="name")
]

__all__ = [
    "AcceptanceTable",
    "Adaptive",
    "AnyPolicy",
    "AnyStrategy",
    "Autoregressive",
    "BaseStrategy",
    "BlockDiffusion",
    "BlockDraft",
    "Diffusion",
    "DraftPass",
    "DraftWork",
    "EagleDraft",
    "FixedDrafts",
    "MedusaDraft",
    "ModelDraft",
    "MtpDraft",
    "NgramDraft",
    "OffAbove",
    "OwnDraft",
    "Phase",
    "Plan",
    "RelativeDraft",
    "Speculative",
    "Strategy",
    "Tree",
    "list_acceptance",
    "load_acceptance",
    "published_variant",
    "typical_phase",
    "verifying",
]
