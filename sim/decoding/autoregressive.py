"""One token a pass."""

from typing import Literal

import numpy as np

from sim.decoding.base import BaseStrategy
from sim.decoding.plan import Phase, Plan
from sim.records import IntArray


class Autoregressive(BaseStrategy):
    """The prefill yields the first token, every later pass one more."""

    name: Literal["autoregressive"] = "autoregressive"

    @property
    def lossless(self) -> bool:
        """By definition."""
        return True

    @property
    def assumed(self) -> bool:
        """Nothing is."""
        return False

    @property
    def prefix_reusable(self) -> bool:
        """Attention is causal."""
        return True

    @property
    def basis(self) -> str:
        """How long an answer is decides."""
        return "one token a pass, by definition"

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

    def mean_passes(self, output_tokens: float) -> float:
        """One a token after the first."""
        return max(0.0, output_tokens - 1)
