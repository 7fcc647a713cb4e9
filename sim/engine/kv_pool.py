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
        """Return the blocks free in the pass after `passes` passes; negative if short."""
        size = self.block_tokens
        used = sum(member.blocks_at(passes, size) for member in batch.members.values())
        return self.blocks - used - sum(sequence.prefill_blocks(size) for sequence in prefilling)

    def least_free(self, batch: DecodeBatch) -> float:
        """Return a lower bound of the blocks that the decoding sequences leave in the coming pass.

        Each of them wastes less than one block.
        """
        return self.blocks - batch.held / self.block_tokens - len(batch.members)

    def surely_fits(self, batch: DecodeBatch, passes: int) -> bool:
        """Whether a batch that only decodes surely finds its blocks for `passes` more passes."""
        tokens = batch.held + batch.growth * passes
        return tokens <= (self.blocks - len(batch.members)) * self.block_tokens

    def passes_that_fit(self, batch: DecodeBatch, passes: int, wanted: int) -> int:
        """Return how many of the next `wanted` passes find their blocks (the first one does)."""
        size, growth = self.block_tokens, batch.growth
        if growth == 0.0 or self.surely_fits(batch, wanted):
            return wanted
        # no more than one block a sequence lies between the bounds, so the search is short
        surely = max(1, int(self.least_free(batch) * size / growth))
        surely_not = surely + 1 + int((len(batch.members) * size + size) / growth)
        low, high = surely, min(wanted, surely_not) + 1
        while high - low > 1:
            middle = (low + high) // 2
            fits = self.free(batch, (), passes + middle - 1) >= 0
            low, high = (middle, high) if fits else (low, middle)
        return low
