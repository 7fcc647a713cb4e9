"""Where an answer lies on its canvases, and runs of like passes over them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sim.decoding.plan import Phase


@dataclass(frozen=True, slots=True)
class Canvas:
    """A stretch of masks, denoised block by block."""

    begin: int
    """Tokens of the answer on canvases before it."""
    tokens: int
    block: int
    useful: int
    """Tokens of the answer on it; what is behind them is padding."""
    stop: bool
    """Leave the blocks that hold nothing but padding."""

    @property
    def blocks(self) -> int:
        """Blocks that are denoised; the last one may be shorter."""
        return -(-(self.useful if self.stop else self.tokens) // self.block)

    def parts(self) -> list[tuple[int, int, int]]:
        """Return of each block: tokens of the answer before it, its tokens, and those shown.

        A block is shown when it is done; the last one of the answer with the end of the canvas,
        when it is sure that nothing follows.
        """
        found, left = list[tuple[int, int, int]](), self.useful
        for index in range(self.blocks):
            start = index * self.block
            size = min(self.block, self.tokens - start)
            full = left > size
            last = index == self.blocks - 1
            found.append((self.begin + start, size, size if full else left if last else 0))
            left -= size if full else 0
        return found


class Run(NamedTuple):
    """Like passes of one block."""

    passes: int
    positions: int
    logits: float
    length: int
    """Prompt and canvas: what the positions attend to."""
    held: int
    """KV slots."""
    shown: int
    """Tokens that become visible at its end."""


def joined(runs: Iterable[Run]) -> tuple[Phase, ...]:
    """Return the phases of runs that follow each other; like ones become one phase.

    Runs join where their passes are alike and what they show comes at even distances.
    """
    phases = list[Phase]()
    for run in runs:
        phase = Phase(
            passes=run.passes,
            positions=run.positions,
            logit_positions=run.logits,
            kv_growth=0.0,
            read_extra=float(run.length),
            pair_extra=float(run.positions * run.length),
            slots_extra=float(run.held),
            chunk_passes=run.passes,
            visible_tokens=run.shown,
        )
        both = _both(phases[-1], phase) if phases else None
        if both is None:
            phases.append(phase)
        else:
            phases[-1] = both
    return tuple(phases)


def _both(before: Phase, after: Phase) -> Phase | None:
    """Return two phases as one, if they are one."""
    if before[1:7] != after[1:7]:
        return None
    passes = before.passes + after.passes
    if not before.visible_tokens:  # nothing was shown so far: the chunk grows
        return after._replace(passes=passes, chunk_passes=passes)
    if not after.visible_tokens or before.chunk_passes != after.passes:
        return None
    shown = before.visible_tokens + after.visible_tokens
    return before._replace(passes=passes, visible_tokens=shown)
