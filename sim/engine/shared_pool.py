"""A KV pool whose blocks of prompts are shared by name and kept for later requests."""

from collections.abc import Iterable
from math import ceil

from sim.cost import KvShape
from sim.decoding import Phase
from sim.engine.batch import DecodeBatch
from sim.engine.kv_pool import KvPool, Reserving
from sim.engine.prefix_cache import Names, PrefixCache
from sim.engine.sequence import Sequence
from sim.units import TOKEN_ROUNDING

_ROUNDING = 1e-9


class SharingBatch(DecodeBatch):
    """A decode batch that knows how many of the tokens it holds lie in shared blocks."""

    __slots__ = ("shared",)

    def __init__(self, reaches: Iterable[int] = ()) -> None:
        super().__init__(tuple(reaches))
        self.shared = 0

    def join(self, sequence: Sequence, phase: Phase, passes: int) -> None:
        """Add a sequence whose current phase goes on from here."""
        self.shared += sequence.shared
        super().join(sequence, phase, passes)

    def leave(self, sequence: Sequence, phase: Phase, passes: int) -> None:
        """Take a sequence out."""
        self.shared -= sequence.shared
        super().leave(sequence, phase, passes)


class SharedPool(KvPool):
    """Blocks in use are the sequences' own and the pinned ones, each of these counted once.

    Idle blocks count as free, and go when the passes need their room. Layers that keep a window
    only, and have no use for what is shared, count for each sequence.
    """

    __slots__ = ("_matched", "_unit", "cache", "names", "peak_blocks")
    caching = True

    def __init__(self, shape: KvShape, names: Names) -> None:
        super().__init__(shape)
        self.cache, self.names = PrefixCache(), names
        self._unit = shape.full * names.block_tokens / shape.block_tokens
        """KV blocks of one named block."""
        self._matched: tuple[Sequence | None, float] = (None, 0.0)
        """The request that was looked up last, and the blocks that it need not take anew."""
        self.peak_blocks = 0.0
        """Most blocks ever in use."""

    # -- counting -----------------------------------------------------------------------------

    def blocks_of(self, sequence: Sequence, tokens: float) -> float:
        """Return the blocks of its own that a sequence takes while it holds `tokens`."""
        matched, saved = self._matched
        saved = saved if sequence is matched else 0.0
        return self.shape.blocks_for(tokens) - self._blocks(sequence.shared) - saved

    def _blocks(self, tokens: float) -> float:
        """Blocks of shared tokens."""
        return self.shape.full * tokens / self.shape.block_tokens

    def _limit(self, batch: DecodeBatch) -> float:
        """Blocks that the decoding sequences may seem to take, what is shared counted for each."""
        shared = batch.shared if isinstance(batch, SharingBatch) else 0
        return self.shape.blocks - self.cache.pinned * self._unit + self._blocks(shared)

    def free(self, batch: DecodeBatch, prefilling: Iterable[Sequence], passes: int) -> float:
        """Return the blocks free or idle in the pass after `passes` passes; negative if short."""
        prefilling = list(prefilling)
        shared = sum(sequence.shared for sequence in prefilling)
        own = super().free(batch, prefilling, passes) + self._blocks(shared)
        return own + self._limit(batch) - self.shape.blocks

    def least_free(self, batch: DecodeBatch) -> float:
        """Return a lower bound of what the decoding sequences leave in the coming pass."""
        return self._limit(batch) - self.shape.most_for(batch.held, len(batch.members))

    def room(self, batch: DecodeBatch) -> float:
        """Return tokens by which a batch that only decodes may surely grow; negative: unsure."""
        return self.least_free(batch) * self._size / self._growing

    # -- sharing ------------------------------------------------------------------------------

    def cached_tokens(self, row: int, target: int) -> int:
        """Return the tokens of a request that need not be computed: all but one at most."""
        return self.cache.held(self.names.of(row, target - 1)) * self.names.block_tokens

    def match(self, sequence: Sequence) -> None:
        """See what a request that waits would find here, were it admitted now."""
        prompt = min(sequence.plan.prefill_tokens, sequence.target - 1)
        names = self.names.of(sequence.row, prompt)
        names = names[: self.cache.held(names)]
        sequence.computed = len(names) * self.names.block_tokens
        taken = len(names) - self.cache.idle_among(names)
        self._matched = sequence, taken * self._unit

    def pin(self, sequence: Sequence) -> None:
        """Let an admitted request use what it has found."""
        self._matched = None, 0.0
        sequence.shared = sequence.computed if sequence.target else 0
        self.cache.pin(self.names.of(sequence.row, sequence.shared))

    def share(self, sequence: Sequence) -> None:
        """Share the whole blocks of the prompt that the pass has computed.

        Where another sequence has computed the same meanwhile, one of the two is given up.
        """
        computed = min(sequence.computed + sequence.chunk, sequence.plan.prefill_tokens)
        before = sequence.shared // self.names.block_tokens
        names = self.names.of(sequence.row, computed)
        if len(names) > before:
            self.cache.pin(names[before:])
            sequence.shared = len(names) * self.names.block_tokens

    def let_go(self, sequence: Sequence) -> None:
        """Use the shared blocks no more."""
        self.cache.release(self.names.of(sequence.row, sequence.shared))
        sequence.shared = 0

    def keep_answer(self, sequence: Sequence, tokens: float) -> None:
        """Keep the named blocks of a request that has finished with `tokens` in the KV."""
        names = self.names.of(sequence.row, tokens + TOKEN_ROUNDING)
        self.cache.keep(names[sequence.shared // self.names.block_tokens :])
        self.let_go(sequence)

    def make_way(
        self, batch: DecodeBatch, prefilling: list[Sequence], passes: int, gone: int
    ) -> None:
        """Drop the idle blocks whose room was needed in the last of `gone` passes.

        `passes` is its number; the batch stands as it did at the first of them.
        """
        shape, idle = self.shape, self.cache.idle * self._unit
        held = batch.held + batch.growth * (gone - 1)
        least = self._limit(batch) - shape.most_for(held, len(batch.members))
        for sequence in prefilling:
            least -= self.blocks_of(sequence, sequence.computed + sequence.chunk)
        if least >= idle and shape.blocks - least <= self.peak_blocks:
            return  # whatever the exact count may be
        self._drop(self.free(batch, prefilling, passes))

    def _drop(self, free: float) -> None:
        """Drop as many idle blocks as there are more than free ones."""
        self.peak_blocks = max(self.peak_blocks, self.shape.blocks - free)
        over = self.cache.idle * self._unit - free
        if over > 0:
            self.cache.drop(ceil(over / self._unit - _ROUNDING))


class ReservingSharedPool(Reserving, SharedPool):
    """The same where each sequence takes the blocks of its whole answer when it is admitted."""

    __slots__ = ("_known",)

    def __init__(self, shape: KvShape, names: Names) -> None:
        SharedPool.__init__(self, shape, names)
        self._known = {}

    def blocks_of(self, sequence: Sequence, tokens: float) -> float:  # noqa: ARG002
        """Return the most blocks of its own that the sequence will ever need."""
        matched, saved = self._matched
        own = self.whole(sequence.plan) - self._blocks(sequence.shared)
        return own - (saved if sequence is matched else 0.0)

    def least_free(self, batch: DecodeBatch) -> float:
        """Return what the decoding sequences and the pinned blocks leave."""
        return super().least_free(batch) - self.cache.pinned * self._unit

    def make_way(
        self, batch: DecodeBatch, prefilling: list[Sequence], passes: int, gone: int
    ) -> None:
        """Drop the idle blocks whose room is reserved."""
        del gone  # what is reserved does not grow
        self._drop(self.free(batch, prefilling, passes))
