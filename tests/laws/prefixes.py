"""Requests that begin alike, drawn by hypothesis."""

from itertools import chain

import numpy as np
from hypothesis import strategies as st

from sim.records import IntArray, PrefixBlocks


@st.composite
def prefixes(draw: st.DrawFn, inputs: IntArray, outputs: IntArray) -> PrefixBlocks:
    """Return the names of blocks of prompts, some of answers too; some rows begin alike."""
    size = draw(st.sampled_from([1, 4, 16, 24]))
    rows: list[list[int]] = []
    for row, (prompt, answer) in enumerate(zip(inputs, outputs, strict=True)):
        named = draw(st.sampled_from([prompt, prompt + size - 1, prompt + answer])) // size
        alike = draw(st.integers(0, 2)), draw(st.sampled_from([0, 2, 5, 1000]))
        rows.append(
            [
                (1000 * alike[0] if place < alike[1] else 1000 * (10 + row)) + place
                for place in range(named)
            ]
        )
    offsets = np.cumsum([0, *map(len, rows)])
    return PrefixBlocks(offsets, np.array([*chain(*rows)], dtype=np.int64), size)
