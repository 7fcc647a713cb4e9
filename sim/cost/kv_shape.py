"""The KV pool in blocks: layers that keep every token, windows that stop growing, fixed states."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from sim.records import FloatArray
from sim.units import TOKEN_ROUNDING


@dataclass(frozen=True, slots=True)
class KvShape:
    """How many blocks a sequence takes, counted in blocks of the layers that keep every token."""

    blocks: int
    """Blocks of one replica."""
    block_tokens: int
    full: float = 1.0
    """1 where some layers keep every token, else 0."""
    windows: tuple[tuple[int, float], ...] = ()
    """(tokens, weight): layers that keep a window, and their share of a block's bytes."""
    sequence_blocks: float = 0.0
    """Recurrent states of a sequence, as blocks."""

    def blocks_for(self, tokens: float) -> float:
        """Return the blocks of one sequence that holds `tokens`."""
        size = self.block_tokens
        needed = self.full * ceil((tokens - TOKEN_ROUNDING) / size)
        for window, weight in self.windows:
            needed += weight * ceil((min(tokens, window) - TOKEN_ROUNDING) / size)
        return needed + self.sequence_blocks

    def most_for(self, tokens: float, sequences: int) -> float:
        """Return an upper bound of the blocks of `sequences` that hold `tokens` together.

        Each wastes less than one block in each kind of layer.
        """
        size = self.block_tokens
        needed = self.full * (tokens / size + sequences)
        for window, weight in self.windows:
            needed += weight * (min(tokens, float(sequences * window)) / size + sequences)
        return needed + self.sequence_blocks * sequences

    def least_for(self, tokens: float, sequences: int) -> float:
        """Return a lower bound of the blocks of `sequences` that hold `tokens` together."""
        return self.full * tokens / self.block_tokens + self.sequence_blocks * sequences

    def share_of(self, tokens: FloatArray, sequences: FloatArray) -> FloatArray:
        """Return the share of the pool that `sequences` with `tokens` together fill.

        Blocks that are not full count in part; where windows cap some of the sequences only, it
        is a little less.
        """
        needed = self.full * tokens / self.block_tokens + self.sequence_blocks * sequences
        for window, weight in self.windows:
            needed += weight * np.minimum(tokens, sequences * window) / self.block_tokens
        return np.minimum(1.0, needed / self.blocks)

    @property
    def tokens_of_one_sequence(self) -> int:
        """Tokens that fit if one sequence holds them all, windows taken at their full size."""
        fixed = self.sequence_blocks + sum(
            weight * ceil(window / self.block_tokens) for window, weight in self.windows
        )
        if not self.full:
            return self.blocks * self.block_tokens
        return int(max(0.0, self.blocks - fixed)) * self.block_tokens
