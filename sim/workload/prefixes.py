"""Which synthetic requests begin alike: shared system prompts, and the history of sessions."""

from typing import Final

import numpy as np

from sim.errors import InputError
from sim.records import IntArray, PrefixBlocks

_MOST: Final = 100_000_000
"""Names of blocks that a run may hold: 0.8 GB."""


def name_blocks(
    *,
    shared_tokens: IntArray,
    shared_from: IntArray,
    own_from: IntArray,
    named_tokens: IntArray,
    block_tokens: int,
) -> PrefixBlocks:
    """Return the names of the blocks of each row.

    `named_tokens` of a row have names: block j is called `shared_from + j` where it lies in the
    `shared_tokens`, else `own_from + j`. A block that is not full has no name.
    """
    named, shared = named_tokens // block_tokens, shared_tokens // block_tokens
    offsets = np.concatenate([[0], np.cumsum(named)]).astype(np.int64)
    if offsets[-1] > _MOST:
        raise InputError(
            f"{int(offsets[-1]):,} blocks of {block_tokens} tokens would be named",
            where="workload.prefix_block_tokens",
            remedy="raise it, or simulate fewer requests",
        )
    row = np.repeat(np.arange(len(named)), named)
    place = np.arange(offsets[-1]) - offsets[row]
    begin = np.where(place < shared[row], shared_from[row], own_from[row])
    return PrefixBlocks(offsets, begin + place, block_tokens)
