"""Blocks denoised in parallel, each committed to an exact KV cache (BD3-LM, arXiv:2503.09573)."""

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Le

from sim.decoding.base import BaseStrategy
from sim.decoding.plan import Phase, Plan
from sim.records import IntArray


class BlockDiffusion(BaseStrategy):
    """Denoise a block in `denoise_passes` passes, then commit it to the KV cache in one more.

    The prompt is prefilled once and yields no token; the user sees a block when it is
    committed. A short answer still pays for a whole block. Denoise passes need the logits of
    the block, the commit pass needs none.
    """

    name: Literal["block_diffusion"] = "block_diffusion"
    block_tokens: Annotated[int, Ge(1), Le(1024)]
    denoise_passes: Annotated[int, Ge(1), Le(1024)]

    @property
    def prefix_reusable(self) -> bool:
        """A block attends to itself and what stands before it, and is written once."""
        return True

    @property
    def basis(self) -> str:
        """Denoise passes are given, and what they do to answers is not known."""
        what = "what-if: the model was not trained for it" if self.what_if else "given"
        return f"denoise passes per block: {what}; quality unknown"

    @property
    def knobs(self) -> str:
        """Blocks and passes."""
        return f"blocks of {self.block_tokens}, {self.denoise_passes} denoise passes"

    @property
    def short_knobs(self) -> str:
        """`32 in 8`: so many tokens in so many passes."""
        return f"{self.block_tokens} in {self.denoise_passes}"

    @property
    def passes_per_block(self) -> int:
        """Denoise passes and the commit pass."""
        return self.denoise_passes + 1

    def mean_tokens_per_pass(self) -> float:
        """G / (s + 1), for answers of whole blocks."""
        return self.block_tokens / self.passes_per_block

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Nothing is random: every block takes the same passes."""
        return -(-output_tokens // self.block_tokens) * self.passes_per_block

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        """Prefill, then the passes of all blocks as one phase.

        The KV really grows by a block at each commit; as a straight line it runs ahead by
        `lag` tokens on average, which the extras take back, so that the means over a block
        are exact.
        """
        block, per_block = self.block_tokens, self.passes_per_block
        growth = block / per_block
        lag = growth * (per_block - 1) / 2
        phase = Phase(
            passes=passes,
            positions=block,
            logit_positions=block * self.denoise_passes / per_block,
            kv_growth=growth,
            read_extra=block - lag,
            pair_extra=block * (block - lag),
            slots_extra=block - lag,
            chunk_passes=per_block,
            visible_tokens=output_tokens,
        )
        return Plan(input_tokens, prefill_yields=False, phases=(phase,))
