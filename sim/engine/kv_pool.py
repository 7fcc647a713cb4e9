"""Paged KV: how many blocks the resident sequences need, and for how many passes they will fit."""

from collections.abc import Iterable

from sim.engine.batch import DecodeBatch
from sim.engine.sequence import Sequence


class KvPool:
    """Blocks of one replica. Counts are exact; a cheap upper bound answers first where it can."""

    __slots__ = ("block_tokens", "blocks")

    def __init__(self, blocks: int, block_tokens: int) -> None:
        self.blocks, self.block_tokens = blocks, block_tokens

    def free(self, batch: DecodeBatch, prefilling: Iterable[Sequence], passes: int) -> int:
        """Return the blocks that stay free in the pass that starts after `passes` passes; negative if short."""
        size = self.block_tokens
        used = sum(member.blocks_at(passes, size) for member in batch.members.values())
        return self.blocks - used - sum(sequence.prefill_blocks(size) for sequence in prefilling)

    def least_free(self, batch: DecodeBatch, prefilling: Iterable[Sequence]) -> float:
        """Return a lower bound of `free` for the coming pass: each sequence wastes less than one block."""
        size = self.block_tokens
        used = (batch.context + batch.slots) / size + len(batch.members)
        return self.blocks - used - sum(sequence.prefill_blocks(size) for sequence in prefilling)

    def surely_fits(self, batch: DecodeBatch, passes: int) -> bool:
        """Whether the next `passes` passes of a batch that only decodes find their blocks for sure."""
        tokens = batch.context + batch.slots + batch.context_growth * passes
        return tokens <= (self.blocks - len(batch.members)) * self.block_tokens

    def passes_that_fit(self, batch: DecodeBatch, passes: int, wanted: int) -> int:
        """Return how many of the next `wanted` passes find their blocks (at least the first one does)."""
        if self.surely_fits(batch, wanted):
            return wanted
        size, growth = self.block_tokens, batch.context_growth
        if growth == 0.0:
            return wanted
        # no more than one block a sequence lies between the bounds, so the search is short
        surely = max(1, int(self.least_free(batch, ()) * size / growth))
        surely_not = surely + 1 + int((len(batch.members) * size + size) / growth)
        low, high = surely, min(wanted, surely_not) + 1
        while high - low > 1:
            middle = (low + high) // 2
            fits = self.free(batch, (), passes + middle - 1) >= 0
            low, high = (middle, high) if fits else (low, middle)
        return low
