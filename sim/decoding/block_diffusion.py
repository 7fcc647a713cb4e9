"""Blocks denoised in parallel, each committed to an exact KV cache (BD3-LM, arXiv:2503.09573)."""

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Le

from sim.decoding.base import BaseStrategy
from sim.decoding.denoising import (
    DenoisePasses,
    Spread,
    basis_of,
    quality_of,
    shared_out,
    slow_caution,
    spread_of,
    words_of,
)
from sim.decoding.plan import Phase, Plan
from sim.records import IntArray


class BlockDiffusion(BaseStrategy):
    """Denoise a block in `denoise_passes` passes, then commit it to the KV cache in one more.

    The prompt is prefilled once and yields no token; the user sees a block when it is
    committed. A short answer still pays for a whole block. Denoise passes need the logits of
    the block, the commit pass needs none.

    With several `blocks_in_flight` (D2F, arXiv:2508.09192) a pass carries them all, and they
    follow each other at even distances: a block still takes its own passes, but one is
    committed every (passes + 1) / blocks_in_flight passes, rounded up.
    """

    name: Literal["block_diffusion"] = "block_diffusion"
    block_tokens: Annotated[int, Ge(1), Le(1024)]
    denoise_passes: DenoisePasses
    """Passes per block; or `{tokens_per_pass: …}`, `{measured: […]}`, `{table: …}`."""
    blocks_in_flight: Annotated[int, Ge(1), Le(64)] = 1
    self_conditioning: bool = False
    """The last guess, a probability for each token of the vocabulary, is fed back as the mean of
    their embeddings (DiffusionGemma): another product with the vocabulary in each denoise pass,
    and room for it for every sequence."""
    batching: Literal["first_done", "lockstep"] = "first_done"
    """Whether a sequence whose block is done goes on at once, or waits for the slowest of the
    batch."""

    @property
    def trained_for(self) -> str:
        """Models trained to denoise blocks behind a committed prefix."""
        return "block_diffusion"

    @property
    def prefix_reusable(self) -> bool:
        """A block attends to itself and what stands before it, and is written once."""
        return True

    @property
    def basis(self) -> str:
        """Denoise passes are given, and what they do to answers is not known."""
        what = basis_of(self.denoise_passes)
        if self.what_if:
            what = "what-if: the model was not trained for it"
        return f"denoise passes per block: {what}"

    @property
    def knobs(self) -> str:
        """Blocks and passes."""
        flight = f", {self.blocks_in_flight} in flight" if self.blocks_in_flight > 1 else ""
        step = ", in lockstep" if self.batching == "lockstep" else ""
        back = ", guess fed back" if self.self_conditioning else ""
        passes = words_of(self.denoise_passes)
        return f"blocks of {self.block_tokens}, {passes}{flight}{back}{step}"

    @property
    def short_knobs(self) -> str:
        """`32 in 8`: so many tokens in so many passes."""
        flight = f" x {self.blocks_in_flight}" if self.blocks_in_flight > 1 else ""
        step = " lockstep" if self.batching == "lockstep" else ""
        return f"{self.block_tokens}{flight} in {self._denoise.mean:.3g}{step}"

    @property
    def quality_settings(self) -> dict[str, float | str | None]:
        """Block length, and what decides on the passes."""
        passes = quality_of(self.denoise_passes, self.block_tokens)
        return {"block_tokens": float(self.block_tokens), **passes}

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """What lockstep leaves out."""
        if self.batching == "first_done":
            return ()
        return ("the wait of a newcomer for the block that the batch has in hand",)

    def cautions(self, output_tokens: float) -> tuple[str, ...]:  # noqa: ARG002
        """Tell of blocks with more passes than tokens."""
        return slow_caution(self._denoise, self.block_tokens)

    @property
    def _denoise(self) -> Spread:
        return spread_of(self.denoise_passes, self.block_tokens)

    @property
    def _first(self) -> int:
        """Passes of the first block where several are in flight: all of its own."""
        return round(self._denoise.mean) + 1

    @property
    def _later(self) -> Spread:
        """Passes from one block to the next."""
        return self._denoise.map(lambda passes: -(-(passes + 1) // self.blocks_in_flight))

    def stretch(self, sequences: int) -> float:
        """Return the passes of the slowest of so many blocks over those of a mean one."""
        if self.batching == "first_done":
            return 1.0
        spread = self._denoise
        return (spread.mean_of_most(sequences) + 1) / (spread.mean + 1)

    def logits_held(self, output_tokens: float) -> int:  # noqa: ARG002
        """Return the positions of a sequence whose logits a pass makes."""
        return self.block_tokens * self.blocks_in_flight

    def guesses_kept(self, output_tokens: float) -> int:  # noqa: ARG002
        """Return the positions of a sequence whose last guess is kept from pass to pass."""
        return self.block_tokens * self.blocks_in_flight if self.self_conditioning else 0

    def mean_tokens_per_pass(self) -> float:
        """G / (s + 1), for answers of whole blocks."""
        return self.block_tokens / self._later.mean

    def mean_passes(self, output_tokens: float) -> float:
        """Return the passes of all blocks, the last one whole."""
        blocks = -(-output_tokens // self.block_tokens)
        if self.blocks_in_flight == 1:
            return blocks * (self._denoise.mean + 1)
        return self._first + (blocks - 1) * self._later.mean

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the denoise passes of every block; each has a commit pass besides."""
        blocks = -(-output_tokens // self.block_tokens)
        if self.blocks_in_flight == 1:
            return self._denoise.draw_sums(blocks, rng) + blocks
        return self._later.draw_sums(blocks - 1, rng) + self._first

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        """Prefill, then the passes of all blocks: those of equally many passes as one phase."""
        blocks = -(-output_tokens // self.block_tokens)
        if self.blocks_in_flight == 1 or blocks == 1:
            groups = shared_out(passes, blocks)
        else:
            groups = [(1, self._first), *shared_out(passes - self._first, blocks - 1)]
        flying, left, phases = min(self.blocks_in_flight, blocks), output_tokens, list[Phase]()
        for count, each in groups:
            shown = min(left, count * self.block_tokens)
            left -= shown
            phases.append(self._phase(count, each, flying, shown))
        return Plan(input_tokens, prefill_yields=False, phases=tuple(phases))

    def _phase(self, blocks: int, each: int, flying: int, shown: int) -> Phase:
        """Return the passes of `blocks` blocks, `each` from one to the next.

        The KV really grows by a block at each commit; as a straight line it runs ahead by
        `lag` tokens on average, which the extras take back, so that the means over a block
        are exact. Of blocks in flight together each sees those before it.
        """
        block, own = self.block_tokens, each if flying == 1 else self._first
        positions, growth = block * flying, block / each
        lag = growth * (each - 1) / 2
        return Phase(
            passes=blocks * each,
            positions=positions,
            logit_positions=(1 + self.self_conditioning) * positions * (own - 1) / own,
            kv_growth=growth,
            read_extra=positions - lag,
            pair_extra=block * block * flying * (flying + 1) / 2 - positions * lag,
            slots_extra=positions - lag,
            chunk_passes=each,
            visible_tokens=shown,
        )
