"""A whole canvas denoised in both directions (LLaDA, arXiv:2502.09992; Dream, 2508.15487)."""

from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Le
from pydantic import model_validator

from sim.decoding.base import BaseStrategy
from sim.decoding.canvas import Canvas, Run, joined
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
from sim.decoding.plan import Plan
from sim.records import IntArray

Tokens = Annotated[int, Ge(1), Le(65_536)]


class Diffusion(BaseStrategy):
    """Every pass sees prompt and canvas in both directions; there is no prefill and no exact KV.

    The answer lies on a canvas of masks behind the prompt, which is denoised block by block.
    Without a cache each pass computes prompt and canvas anew. With one (Fast-dLLM,
    arXiv:2505.22618), the first pass of a block does, and the later ones go by the keys and
    values that it left: `prefix` computes the block and all behind it, `dual` the block alone.
    """

    name: Literal["diffusion"] = "diffusion"
    cache: Literal["none", "prefix", "dual"] = "none"
    denoise_passes: DenoisePasses
    """Passes per block; or `{tokens_per_pass: …}`, `{measured: […]}`, `{table: …}`."""
    block_tokens: Tokens | None = None
    """Left out: the canvas is one block."""
    canvas_tokens: Tokens | None = None
    """Length that is denoised whatever the answer needs of it; a longer answer goes on on a
    second canvas. Left out: the answer, in whole blocks, as if its length were known."""
    early_stop: bool = False
    """Stop after the block that holds the end of the answer; else the padding is denoised too."""
    refresh_every: Annotated[int, Ge(2), Le(8192)] | None = None
    """Passes of a block after which a cache is computed anew; left out: once a block."""
    logits: Literal["block", "all"] = "block"
    """Positions whose logits are computed: the block's, or all (as published code does)."""
    stream: Literal["block", "end"] = "block"
    """When the user sees what: each block when it is done, or everything at the end."""
    batching: Literal["first_done", "lockstep"] = "first_done"
    """Whether a sequence whose block is done goes on at once, or waits for the slowest of the
    batch."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        block, canvas = self.block_tokens, self.canvas_tokens
        if block is not None and canvas is not None and block > canvas:
            msg = f"`block_tokens` {block} is longer than the canvas of {canvas} tokens"
            raise ValueError(msg)
        if self.refresh_every is not None and self.cache == "none":
            raise ValueError("`refresh_every` needs a `cache`: without one every pass is whole")
        return self

    @property
    def trained_for(self) -> str:
        """Models trained to denoise whole answers."""
        return "diffusion"

    @property
    def idealised(self) -> bool:
        """Whether a long answer takes as many passes as a short one, which nobody has shown."""
        whole = self.block_tokens is None and self.canvas_tokens is None
        return whole and not hasattr(self.denoise_passes, "tokens_per_pass")

    @property
    def basis(self) -> str:
        """Denoise passes are given, and what they do to answers is not known."""
        what = basis_of(self.denoise_passes)
        if self.what_if:
            what = "what-if: the model was not trained for it"
        if self.idealised:
            what += "; idealised: as many for a long answer as for a short one"
        of = "answer" if self.block_tokens is None else "block"
        return f"denoise passes per {of}: {what}"

    @property
    def knobs(self) -> str:
        """Cache, canvas, blocks and passes."""
        cached = {"none": "no cache", "prefix": "prefix cache", "dual": "dual cache"}[self.cache]
        blocks = "one block" if self.block_tokens is None else f"blocks of {self.block_tokens}"
        canvas = "" if self.canvas_tokens is None else f", canvas of {self.canvas_tokens}"
        fixed = ", idealised" if self.idealised else ""
        step = ", in lockstep" if self.batching == "lockstep" else ""
        return f"{cached}{canvas}, {blocks}, {words_of(self.denoise_passes)}{fixed}{step}"

    @property
    def short_knobs(self) -> str:
        """Cache, and passes in short."""
        block = "" if self.block_tokens is None else f"{self.block_tokens} in "
        step = " lockstep" if self.batching == "lockstep" else ""
        return f"{self.cache} {block}{words_of(self.denoise_passes)}{step}"

    @property
    def quality_settings(self) -> dict[str, float | str | None]:
        """Cache, canvas, block, and what decides on the passes."""
        block = self.block_tokens or self.canvas_tokens
        return {
            "cache": self.cache,
            "block_tokens": block,
            "canvas_tokens": self.canvas_tokens,
            **quality_of(self.denoise_passes, block),
        }

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """What the plan leaves out."""
        missing = ["what an approximate cache does to answers"] if self.cache != "none" else []
        if self.batching == "lockstep":
            missing.append("the wait of a newcomer for the block that the batch has in hand")
        return tuple(missing)

    def cautions(self, output_tokens: float) -> tuple[str, ...]:
        """Tell of blocks with more passes than tokens."""
        block = self.block_tokens or self.canvas_tokens or max(1, round(output_tokens))
        return slow_caution(self._spread(output_tokens), block)

    def _canvases(self, output_tokens: int) -> list[Canvas]:
        """Lay the answer out; all canvases but the last are full."""
        block = self.block_tokens or self.canvas_tokens or output_tokens
        canvas = self.canvas_tokens or -(-output_tokens // block) * block
        return [
            Canvas(begin, canvas, block, min(canvas, output_tokens - begin), stop=self.early_stop)
            for begin in range(0, output_tokens, canvas)
        ]

    def _blocks(self, output_tokens: int) -> int:
        return sum(canvas.blocks for canvas in self._canvases(output_tokens))

    def _spread(self, output_tokens: float) -> Spread:
        block = self.block_tokens or self.canvas_tokens or max(1, round(output_tokens))
        return spread_of(self.denoise_passes, block)

    def stretch(self, sequences: int) -> float:
        """Return the passes of the slowest of so many blocks over those of a mean one."""
        if self.batching == "first_done":
            return 1.0
        spread = self._spread(1 if self.block_tokens is None else self.block_tokens)
        return spread.mean_of_most(sequences) / spread.mean

    def logits_held(self, output_tokens: float) -> int:
        """Return the positions of a sequence whose logits a pass makes."""
        block = self.block_tokens or self.canvas_tokens or round(output_tokens)
        return max(1, block)

    def mean_tokens_per_pass(self) -> float:
        """Return the tokens of a block over its passes."""
        block = self.block_tokens or self.canvas_tokens or 1
        return block / self._spread(block).mean

    def mean_passes(self, output_tokens: float) -> float:
        """Return the passes of all blocks that are denoised, padding included."""
        return self._blocks(round(output_tokens)) * self._spread(output_tokens).mean

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the passes of every block."""
        lengths, where = np.unique(output_tokens, return_inverse=True)
        blocks = np.array([self._blocks(n) for n in lengths.tolist()], dtype=np.int64)[where]
        if self.block_tokens is None and self.canvas_tokens is None:  # each length its own block
            drawn = np.zeros(len(output_tokens), dtype=np.int64)
            for place, length in enumerate(lengths.tolist()):
                mine = where == place
                drawn[mine] = self._spread(length).draw_sums(blocks[mine], rng)
            return drawn
        return self._spread(1).draw_sums(blocks, rng)

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        """Lay out the passes block by block; blocks of equally many follow each other."""
        canvases = self._canvases(output_tokens)
        each = [
            n for count, n in shared_out(passes, self._blocks(output_tokens)) for _ in range(count)
        ]
        runs, place = list[Run](), 0
        for canvas in canvases:
            mine = each[place : place + canvas.blocks]
            place += canvas.blocks
            runs += self._runs(input_tokens, canvas, mine)
        if self.stream == "end":
            runs = [run._replace(shown=0) for run in runs]
            runs[-1] = runs[-1]._replace(shown=output_tokens)
        return Plan(0, prefill_yields=False, phases=joined(runs))

    def _runs(self, prompt: int, canvas: Canvas, each: list[int]) -> list[Run]:
        """Return the passes of a canvas: per block whole ones, and short ones between them."""
        length, runs = prompt + canvas.begin + canvas.tokens, list[Run]()
        held = 0 if self.cache == "none" else length
        for passes, (start, tokens, shown) in zip(each, canvas.parts(), strict=True):
            size = length if self.logits == "all" else tokens
            whole = Run(1, length, float(size), length, held, 0)
            if self.cache == "none":
                mine = [whole._replace(passes=passes)]
            else:
                positions = tokens if self.cache == "dual" else length - prompt - start
                seen = min(size, positions)
                short = Run(1, positions, float(seen), length, held, 0)
                mine = list[Run]()
                period, left = self.refresh_every or passes, passes
                while left:
                    mine.append(whole)
                    between = min(period, left) - 1
                    if between:
                        mine.append(short._replace(passes=between))
                    left -= between + 1
            mine[-1] = mine[-1]._replace(shown=shown)
            runs += mine
        return runs
