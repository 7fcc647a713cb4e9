"""Paged KV: how many blocks the resident sequences need, and for how many passes they will fit."""

from collections.abc import Iterable
from math import ceil, inf

from sim.cost import KvShape
from sim.decoding import Plan
from sim.engine.batch import DecodeBatch
from sim.engine.block_count import BlockCount, Reserved
from sim.engine.sequence import Sequence
from sim.units import TOKEN_ROUNDING


class KvPool:
    """Blocks of one replica. Counts are exact; a cheap upper bound answers first where it can."""

    __slots__ = ("_growing", "_size", "plain_tokens", "shape")
    caching = False
    """Prompts may find a part of them here."""

    def __init__(self, shape: KvShape) -> None:
        self.shape, self._size = shape, shape.block_tokens
        plain = not shape.windows and not shape.sequence_blocks and shape.full == 1.0
        self._growing = max(1e-9, shape.full + sum(weight for _, weight in shape.windows))
        """Blocks that a block's worth of new tokens takes, at most."""
        self.plain_tokens = shape.blocks * shape.block_tokens if plain else -1
        """Tokens of all blocks, where all layers keep every token and nothing else; else -1."""

    def free(self, batch: DecodeBatch, prefilling: Iterable[Sequence], passes: int) -> float:
        """Return the blocks free in the pass after `passes` passes; negative if short."""
        count = batch.blocks
        if not isinstance(count, BlockCount):  # from now on kept up to date
            count = batch.blocks = BlockCount(self.shape, batch.members.values())
        used = count.used(passes)
        for sequence in prefilling:
            used += self.shape.blocks_for(sequence.computed + sequence.chunk)
        return self.shape.blocks - used

    def blocks_of(self, sequence: Sequence, tokens: float) -> float:  # noqa: ARG002
        """Return the blocks that a sequence takes while it holds `tokens`."""
        if self.plain_tokens >= 0:  # `blocks_for` with a block a block
            return ceil((tokens - TOKEN_ROUNDING) / self._size)
        return self.shape.blocks_for(tokens)

    def match(self, sequence: Sequence) -> None:
        """See what a request that waits would find here, were it admitted now: nothing."""

    def _limit(self, batch: DecodeBatch) -> float:  # noqa: ARG002
        """Blocks that the decoding sequences may take."""
        return self.shape.blocks

    def least_free(self, batch: DecodeBatch) -> float:
        """Return a lower bound of what the decoding sequences leave in the coming pass."""
        if self.plain_tokens >= 0:  # `most_for` with a block a block
            return self.shape.blocks - (batch.held / self._size + len(batch.members))
        return self.shape.blocks - self.shape.most_for(batch.held, len(batch.members))

    def room(self, batch: DecodeBatch) -> float:
        """Return tokens by which a batch that only decodes may surely grow; negative: unsure."""
        if self.plain_tokens >= 0:
            return self.plain_tokens - batch.held - len(batch.members) * self._size
        return self.least_free(batch) * self._size / self._growing

    def passes_that_fit(self, batch: DecodeBatch, passes: int, wanted: int) -> int:
        """Return how many of the next `wanted` passes find their blocks (the first one does)."""
        count, growth, room, shape = len(batch.members), batch.growth, self.room(batch), self.shape
        if growth * wanted <= room:
            return wanted
        low, high, limit = 1, wanted + 1, self._limit(batch)  # `low` passes fit, `high` do not
        if self.plain_tokens >= 0 and growth > 0.0:  # as both bounds below say, but for rounding
            low = max(low, int(room / growth))
            high = min(high, int((limit * self._size - batch.held) / growth) + 3)
        while high - low > 1:
            middle = (low + high) // 2
            tokens = batch.held + growth * (middle - 1)
            if shape.most_for(tokens, count) <= limit:
                fits = True
            elif shape.least_for(tokens, count) > limit:
                fits = False
            else:
                fits = self.free(batch, (), passes + middle - 1) >= 0
            low, high = (middle, high) if fits else (low, middle)
        return low


class Reserving(KvPool):
    """Each sequence takes the blocks of its whole answer when it is admitted: none runs short."""

    __slots__ = ()
    _known: dict[Plan, float]

    def whole(self, plan: Plan) -> float:
        """Return the most blocks that a sequence of this plan ever needs."""
        known = self._known.get(plan)
        if known is None:
            known = self._known[plan] = self.shape.blocks_for(plan.peak_kv_tokens)
        return known

    def blocks_of(self, sequence: Sequence, tokens: float) -> float:  # noqa: ARG002
        """Return the most blocks that the sequence will ever need."""
        return self.whole(sequence.plan)

    def free(self, batch: DecodeBatch, prefilling: Iterable[Sequence], passes: int) -> float:  # noqa: ARG002
        """Return the blocks that nobody has reserved."""
        used = sum(self.blocks_of(sequence, 0.0) for sequence in prefilling)
        return self.least_free(batch) - used

    def least_free(self, batch: DecodeBatch) -> float:
        """Return what the decoding sequences leave."""
        reserved = sum(self.blocks_of(member, 0.0) for member in batch.members.values())
        return self.shape.blocks - reserved

    def room(self, batch: DecodeBatch) -> float:  # noqa: ARG002
        """Return no limit: what a sequence grows by is reserved."""
        return inf

    def passes_that_fit(self, batch: DecodeBatch, passes: int, wanted: int) -> int:  # noqa: ARG002
        """Return all of them."""
        return wanted


class ReservingPool(Reserving):
    """The pool of a replica that reserves, and shares nothing."""

    __slots__ = ("_known",)

    def __init__(self, shape: KvShape) -> None:
        super().__init__(shape)
        self._known = {}

    def least_free(self, batch: DecodeBatch) -> float:
        """Return what the decoding sequences leave; whole blocks are added up as they come."""
        if self.plain_tokens < 0:  # parts of blocks would leave their rounding behind
            return super().least_free(batch)
        count = batch.blocks
        if not isinstance(count, Reserved):
            count = batch.blocks = Reserved(self.whole, batch.members.values())
        return self.shape.blocks - count.total
