"""One token a pass."""

from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict

from sim.decoding.plan import DraftWork, Phase, Plan
from sim.records import IntArray


class Autoregressive(BaseModel):
    """The prefill yields the first token, every later pass one more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Literal["autoregressive"] = "autoregressive"
    model: str | None = None
    """Serve this model for this strategy instead of the scenario's."""
    what_if: bool = False

    @property
    def draft_work(self) -> DraftWork | None:
        """No drafter."""
        return None

    @property
    def lossless(self) -> bool:
        """Output distribution as the served model's own."""
        return True

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Nothing is random: one pass a token after the first."""
        return output_tokens - 1

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        """Prefill, then `output_tokens - 1` passes of one position."""
        if not passes:
            return Plan(input_tokens, prefill_yields=True, phases=())
        return Plan(
            input_tokens,
            prefill_yields=True,
            phases=(Phase(passes, 1, 1.0, 1.0, 1.0, 1.0, 1.0, 1, output_tokens - 1),),
        )

    def mean_tokens_per_pass(self) -> float:
        """One."""
        return 1.0
