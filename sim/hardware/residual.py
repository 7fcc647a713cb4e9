"""Tables of what a smooth form misses: log(measured / form), in hundredths, between knots.

The numbers are kept as text: they are thousands, and read only by what uses them.
"""

from typing import Annotated, Literal, Self

from annotated_types import Gt
from pydantic import BaseModel, ConfigDict, Field, model_validator

Coordinate = Literal[
    "tokens", "inner", "outer", "items", "heads_per_kv", "head_dim", "query_tokens", "heads",
    "ranks", "bytes",
]  # fmt: skip
"""tokens, inner, outer: M, K, N of a product. items: sequences x KV heads of a decode kernel, or
sequences x query heads of a prefill kernel. bytes: the tensor of a collective."""
Knot = Annotated[float, Gt(0), Field(allow_inf_nan=False)]
_MOST = 5.0
"""A form that is off by more than this factor in log, 150 times, is no form."""


class Axis(BaseModel):
    """The knots of one quantity."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    of: Coordinate
    at: tuple[Knot, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _rises(self) -> Self:
        if any(right <= left for left, right in zip(self.at, self.at[1:], strict=False)):
            raise ValueError("`at` should rise")
        return self


class Residual(BaseModel):
    """log(measured / form) on a grid: multilinear in the logarithms of its axes.

    Beyond the grid it fades to nothing within one octave: the form alone holds there.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    axes: tuple[Axis, ...] = Field(min_length=1, max_length=4)
    hundredths: str
    """One number a grid point, the last axis running fastest."""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        expected = 1
        for axis in self.axes:
            expected *= len(axis.at)
        found = check_numbers(self.hundredths)
        if found != expected:
            raise ValueError(f"`hundredths` should hold {expected} numbers, found {found}")
        if len({axis.of for axis in self.axes}) < len(self.axes):
            raise ValueError("an axis comes twice")
        return self


class ExpertShapes(BaseModel):
    """log(measured / form) of routed experts, for each shape that was timed, over the tokens.

    A line of `shapes` is
    `hidden intermediate experts active expert_parallel matrices | hundredths`, all as on one
    rank: the width of an expert after the split, the experts that a rank holds;
    matrices: 3 where an expert is gated, else 2. A shape that was not timed takes the mean of
    those near it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    tokens: tuple[Knot, ...] = Field(min_length=2)
    shapes: str

    @model_validator(mode="after")
    def _complete(self) -> Self:
        lines = self.shapes.splitlines()
        if not lines:
            raise ValueError("`shapes` is empty")
        for line in lines:
            shape, _, numbers = line.partition("|")
            facts = shape.split()
            if len(facts) != 6 or not all(_is_positive(fact) for fact in facts):
                raise ValueError(f"`shapes` has a line without six sizes: {line[:40]!r}")
            if check_numbers(numbers) != len(self.tokens):
                raise ValueError(f"`shapes` should hold {len(self.tokens)} numbers a line")
        return self


def check_numbers(text: str) -> int:
    """Return how many whole numbers a text holds; raise `ValueError` for anything else."""
    numbers = list(map(int, text.split()))
    if max(map(abs, numbers), default=0) > 100 * _MOST:
        raise ValueError(f"a residual is beyond ±{100 * _MOST:g} hundredths")
    return len(numbers)


def _is_positive(word: str) -> bool:
    try:
        return float(word) > 0
    except ValueError:
        return False
