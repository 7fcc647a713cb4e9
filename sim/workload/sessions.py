"""Sessions: a user's turns, each of whose prompts holds all that was said before."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, model_validator

from sim.records import IntArray
from sim.units import counted
from sim.workload.classes import Kind
from sim.workload.streams import open_uniforms
from sim.workload.thinking import Thinking

Count = Annotated[int, Ge(1), Le(100_000)]


class _Turns(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class FixedTurns(_Turns):
    """Every session has as many turns."""

    kind: Literal["fixed"] = "fixed"
    turns: Count

    def draw(self, count: int, stream: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Return the turns of so many sessions."""
        return np.full(count, self.turns, np.int64)

    @property
    def mean(self) -> float:
        """Mean number of turns."""
        return float(self.turns)

    @property
    def mean_square(self) -> float:
        """Mean of the square of the number of turns."""
        return float(self.turns) ** 2

    def describe(self) -> str:
        """Return the number in words."""
        return counted(self.turns, "turn")


class UniformTurns(_Turns):
    """Every number of turns from `low` to `high`, both included, equally likely."""

    kind: Literal["uniform"] = "uniform"
    low: Count
    high: Count

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.high < self.low:
            raise ValueError(f"needs `low` <= `high`, found {self.low} and {self.high}")
        return self

    def draw(self, count: int, stream: np.random.Generator) -> IntArray:
        """Return the turns of so many sessions."""
        ranks = open_uniforms(stream, count)
        steps = np.floor(ranks * (self.high - self.low + 1)).astype(np.int64)
        return np.asarray(self.low + steps, np.int64)

    @property
    def mean(self) -> float:
        """Mean number of turns."""
        return (self.low + self.high) / 2

    @property
    def mean_square(self) -> float:
        """Mean of the square of the number of turns: variance (n² - 1) / 12, and mean²."""
        values = self.high - self.low + 1
        return (values**2 - 1) / 12 + self.mean**2

    def describe(self) -> str:
        """Return the number in words."""
        return f"{self.low:,} to {self.high:,} turns"


class GeometricTurns(_Turns):
    """After each turn the user goes on with the same probability: 1 - 1 / `mean`."""

    kind: Literal["geometric"] = "geometric"
    mean: Annotated[float, Ge(1), Le(10_000)]
    """Mean number of turns, 1 or more."""

    def draw(self, count: int, stream: np.random.Generator) -> IntArray:
        """Return the turns of so many sessions: 1 + floor(ln u / ln(1 - 1 / mean))."""
        if self.mean == 1:
            return np.ones(count, np.int64)
        ranks = open_uniforms(stream, count)
        further = np.floor(np.log(ranks) / np.log1p(-1 / self.mean))
        return np.asarray(further + 1, np.float64).astype(np.int64)

    @property
    def mean_square(self) -> float:
        """Mean of the square of the number of turns: variance mean (mean - 1), and mean²."""
        return self.mean * (self.mean - 1) + self.mean**2

    def describe(self) -> str:
        """Return the number in words."""
        return f"{self.mean:g} turns on average"


TurnCounts = Annotated[FixedTurns | UniformTurns | GeometricTurns, Field(discriminator="kind")]


class Sessions(Thinking):
    """Requests come in sessions; `think_s` is the pause between an answer and the next turn.

    A turn's prompt is all that was said before it (each prompt and each answer) and a new text of
    the user, whose length is that of `input_tokens`. In an open loop the arrivals are those of the
    first turns, at a rate that in the long run brings as many requests as `arrivals` states; the
    run begins with first turns alone.
    """

    turns: TurnCounts
    """How many turns a session has, if the context lasts."""
    max_context_tokens: Annotated[int, Ge(1)] | None = None
    """A session ends before the turn whose prompt and answer would be longer; left out: where the
    model's context ends."""

    def mean_history_turns(self) -> float:
        """Return how many turns stand before a request on average: E[T (T - 1) / 2] / E[T]."""
        return (self.turns.mean_square - self.turns.mean) / (2 * self.turns.mean)

    def describe(self) -> str:
        """Return the sessions in words."""
        pause = f", users {self.thinking()} in between" if self.think_s else ""
        return f"sessions of {self.turns.describe()}{pause}"


def mean_tokens(kinds: Sequence[Kind], sessions: Sessions | None) -> tuple[float, float]:
    """Mean length of a prompt and of an answer, tokens: shared prefix and history included."""
    before = 0.0 if sessions is None else sessions.mean_history_turns()
    inputs = outputs = 0.0
    for one in kinds:
        text, answer = one.mean_tokens()
        inputs += one.share * (one.shared_prefix_tokens + text + before * (text + answer))
        outputs += one.share * answer
    return inputs, outputs


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows by session: those of session s are `first[s]` to `first[s + 1]`."""

    first: IntArray

    @classmethod
    def of(cls, counts: IntArray) -> "Grouped":
        """Return the groups of so many rows each."""
        return cls(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))

    @property
    def rows(self) -> int:
        """All rows."""
        return int(self.first[-1])

    @property
    def counts(self) -> IntArray:
        """Rows of each session."""
        return np.diff(self.first)

    @property
    def session(self) -> IntArray:
        """Session of each row."""
        return np.repeat(np.arange(len(self.first) - 1), self.counts)

    def before(self, amounts: IntArray) -> IntArray:
        """Return the sum of the amounts of the earlier rows of the same session, for each row."""
        through = np.concatenate([[0], np.cumsum(amounts)])
        return np.asarray(through[:-1] - through[self.first[:-1]][self.session], np.int64)
