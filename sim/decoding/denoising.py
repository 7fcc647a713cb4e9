"""How many passes a block takes to denoise: given, in tokens per pass, measured, or published."""

from collections.abc import Callable, Mapping
from math import floor
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, ConfigDict, Discriminator, Tag

from sim.decoding.denoise_tables import Published
from sim.records import IntArray
from sim.units import counted

_MOST_AT_ONCE = 1 << 20
"""Blocks whose passes are drawn in one go."""
Passes = Annotated[int, Ge(1), Le(8192)]


class Spread(NamedTuple):
    """A distribution of passes per block: values in rising order, and their chances."""

    values: tuple[int, ...]
    chances: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Passes per block on average."""
        return float(np.dot(self.values, self.chances))

    def mean_of_most(self, blocks: int) -> float:
        """Return the expected maximum over so many blocks: sum of v (F(v)^n - F(v-)^n).

        >>> Spread((2, 4), (0.5, 0.5)).mean_of_most(2)
        3.5
        """
        reached = np.minimum(1.0, np.cumsum(self.chances)) ** blocks
        reached[-1] = 1.0
        return float(np.dot(self.values, np.diff(reached, prepend=0.0)))

    def map(self, passes_of: Callable[[int], int]) -> "Spread":
        """Return the distribution of a function of the passes that never falls."""
        return Spread(tuple(passes_of(value) for value in self.values), self.chances)

    def draw_sums(self, blocks: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw the passes of so many blocks each, added up; shape as `blocks`."""
        if len(self.values) == 1:
            return blocks * self.values[0]
        if len(self.values) == 2:
            low, high = self.values
            return blocks * low + (high - low) * rng.binomial(blocks, self.chances[1])
        sums = np.zeros(len(blocks), dtype=np.int64)
        step = max(1, _MOST_AT_ONCE // max(1, int(blocks.max(initial=1))))
        for first in range(0, len(blocks), step):
            some = blocks[first : first + step]
            drawn = rng.choice(self.values, size=int(some.sum()), p=self.chances)
            ends = np.concatenate([[0], np.cumsum(drawn)])[np.cumsum(some)]
            sums[first : first + step] = np.diff(ends, prepend=0)
        return sums


class _Keys(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class TokensPerPass(_Keys):
    """Tokens that a denoise pass unmasks on average, whatever the length."""

    tokens_per_pass: Annotated[float, Ge(0.1), Le(1024)]
    source: str | None = None
    """Where the figure comes from."""


class Measured(_Keys):
    """Passes of blocks that were measured; each block takes one of them."""

    measured: Annotated[tuple[Passes, ...], MinLen(1)]
    source: str | None = None
    """Where the figures come from."""


def _tag(given: object) -> str:
    """Return which way of stating the passes is meant, from a mapping or a parsed object."""
    told = given.keys() if isinstance(given, Mapping) else ()
    if isinstance(given, TokensPerPass) or "tokens_per_pass" in told:
        return "speed"
    if isinstance(given, Measured) or "measured" in told:
        return "measured"
    return "published" if isinstance(given, Published | Mapping) else "number"


DenoisePasses = Annotated[
    Annotated[Passes, Tag("number")]
    | Annotated[TokensPerPass, Tag("speed")]
    | Annotated[Measured, Tag("measured")]
    | Annotated[Published, Tag("published")],
    Discriminator(_tag),
]
"""A number of passes per block; or `{tokens_per_pass: …}`, `{measured: […]}`, or a row of a
published table, `{table: …, threshold: …, domain: …}`.
"""


def spread_of(given: DenoisePasses, block_tokens: int) -> Spread:
    """Return the passes that a block of so many tokens takes.

    A block takes block / tokens per pass, and one pass at least; where that is no whole number,
    some blocks take a pass more than others.
    """
    if isinstance(given, int):
        return Spread((given,), (1.0,))
    if isinstance(given, Measured):
        values, counts = np.unique(given.measured, return_counts=True)
        shares = counts / counts.sum()
        return Spread(tuple(values.tolist()), tuple(shares.tolist()))
    mean = max(1.0, block_tokens / given.tokens_per_pass)
    low = floor(mean)
    if mean == low:
        return Spread((low,), (1.0,))
    return Spread((low, low + 1), (low + 1 - mean, mean - low))


def words_of(given: DenoisePasses) -> str:
    """Return the passes of a block in a few words."""
    if isinstance(given, int):
        return f"{given} denoise {'pass' if given == 1 else 'passes'}"
    if isinstance(given, Measured):
        return f"denoise passes as measured, {np.mean(given.measured):.3g} on average"
    return f"{given.tokens_per_pass:.3g} tokens a pass"


def slow_caution(spread: Spread, block_tokens: int) -> tuple[str, ...]:
    """Return what to say of a block with more denoise passes than tokens; nothing elsewhere."""
    if spread.mean <= block_tokens:
        return ()
    tokens = counted(block_tokens, "token")
    said = (
        f"a block of {tokens} takes {spread.mean:.3g} denoise passes, so that a pass unmasks less"
        " than one: decoders that unmask for good take as many passes as tokens at most; only"
        " those that mask tokens again take more"
    )
    return (said,)


def basis_of(given: DenoisePasses) -> str:
    """Return where the passes of a block come from."""
    if isinstance(given, int):
        return "given"
    return given.source or "given in the scenario, no source"


def quality_of(given: DenoisePasses, block_tokens: int | None) -> dict[str, float | str | None]:
    """Return what the answers depend on, by the names of the tables of quality."""
    if isinstance(given, int):
        return {} if block_tokens is None else {"tokens_per_pass": block_tokens / given}
    if isinstance(given, TokensPerPass):
        return {"tokens_per_pass": given.tokens_per_pass}
    return {"threshold": given.row.threshold} if isinstance(given, Published) else {}


def shared_out(passes: int, blocks: int) -> list[tuple[int, int]]:
    """Return how so many passes are spread over blocks: (blocks, passes of each), fewest first.

    >>> shared_out(11, 4)
    [(1, 2), (3, 3)]
    """
    each, more = divmod(passes, blocks)
    return [(count, n) for count, n in ((blocks - more, each), (more, each + 1)) if count]
