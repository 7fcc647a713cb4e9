"""How many drafted tokens survive verification: the ways to state it, and what they amount to.

Whatever is stated ends as *survival*: the probability that the first j drafted tokens are all
accepted, j = 1, 2, ... It never rises.
"""

import csv
from collections.abc import Mapping
from itertools import accumulate, pairwise
from math import isfinite
from operator import mul
from pathlib import Path
from typing import Annotated, Any, Self

from annotated_types import Ge, Le, MinLen
from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from sim.decoding.frozen import FrozenDict
from sim.errors import InputError

Probability = Annotated[float, Ge(0), Le(1)]
Survival = tuple[float, ...]
Means = Annotated[
    dict[Annotated[int, Ge(1), Le(64)], Annotated[float, Ge(1)]],
    MinLen(1),
    AfterValidator(FrozenDict),
]
_WAYS = (
    "conditional_acceptance",
    "survival",
    "acceptance_rate",
    "tokens_per_pass",
    "all_or_nothing",
    "accepted_lengths",
)


class AllOrNothing(BaseModel):
    """Rounds of two kinds and a rest, as n-gram drafts have them (TensorRT-LLM tech blog 07).

    Of the rounds that accept some and not all, every length is equally likely.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    none: Probability
    """Share of rounds that accept nothing."""
    all: Probability
    """Share of rounds that accept everything."""

    @model_validator(mode="after")
    def _sum(self) -> Self:
        if self.none + self.all > 1:
            raise ValueError(f"`none` {self.none:g} and `all` {self.all:g} are more than 1 in sum")
        return self

    def survival(self, tokens: int) -> Survival:
        """Return the survival of `tokens` positions."""
        some = 1.0 - self.none - self.all
        inner = max(1, tokens - 1)  # lengths 1 .. tokens - 1 share what is left
        first = 1.0 - self.none
        return tuple(
            first - some * (place / inner) if tokens > 1 else first for place in range(tokens)
        )


class Acceptance(BaseModel):
    """Acceptance by position, stated in one of several ways."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    conditional_acceptance: Annotated[tuple[Probability, ...], MinLen(1)] | None = None
    """a_j: given that all before were accepted; may rise with j."""
    survival: Annotated[tuple[Probability, ...], MinLen(1)] | None = None
    """The product of a_1..a_j; never rises."""
    acceptance_rate: Probability | None = None
    """The same a_j at every position."""
    tokens_per_pass: Means | None = None
    """Mean tokens of a round (accepted and the one that the target adds) by drafted tokens, as
    benchmarks publish it. Between the figures survival falls by a constant factor."""
    all_or_nothing: AllOrNothing | None = None
    """A mixture: some rounds accept none, some all."""
    accepted_lengths: Path | None = None
    """CSV of measured rounds: a column `accepted` of drafted tokens that were accepted, and
    `count` of rounds, if like ones are counted together."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.survival and any(later > earlier for earlier, later in pairwise(self.survival)):
            msg = f"`survival` {list(self.survival)} rises: a later token needs all before it"
            raise ValueError(msg)
        if self.tokens_per_pass is not None:
            survival_of_means(self.tokens_per_pass)
        return self

    @property
    def ways(self) -> tuple[str, ...]:
        """Names of the fields that are set."""
        return tuple(way for way in _WAYS if getattr(self, way) is not None)

    @property
    def stated_positions(self) -> int | None:
        """Positions that are stated; None where the statement holds for any number."""
        if self.conditional_acceptance is not None:
            return len(self.conditional_acceptance)
        if self.survival is not None:
            return len(self.survival)
        return max(self.tokens_per_pass) if self.tokens_per_pass is not None else None

    def survival_of(self, tokens: int) -> Survival:
        """Return the survival of the first `tokens` positions; one of the ways must be set."""
        if self.survival is not None:
            return self.survival[:tokens]
        if self.conditional_acceptance is not None:
            return tuple(accumulate(self.conditional_acceptance[:tokens], mul))
        if self.acceptance_rate is not None:
            return tuple(self.acceptance_rate**place for place in range(1, tokens + 1))
        if self.tokens_per_pass is not None:
            return survival_of_means(self.tokens_per_pass)[:tokens]
        if self.all_or_nothing is not None:
            return self.all_or_nothing.survival(tokens)
        if self.accepted_lengths is None:  # pragma: no cover - checked by those who call
            raise AssertionError
        return survival_of_lengths(read_accepted_lengths(self.accepted_lengths), tokens)

    def relative_to(self, folder: Path) -> Self:
        """Return the same with a relative path taken from `folder`."""
        if self.accepted_lengths is None:
            return self
        path = folder / self.accepted_lengths.expanduser()
        return self.model_copy(update={"accepted_lengths": path})


def survival_of_means(means: Mapping[int, float]) -> Survival:
    """Return survival by position from mean tokens per round (1 + its sum) by drafted tokens.

    From one published length to the next it falls by a constant factor, the one that gives the
    published mean: with a single figure that is the same acceptance at every position.

    >>> [round(s, 3) for s in survival_of_means({2: 1.75})]
    [0.5, 0.25]
    """
    survival: list[float] = []
    at, mean, last = 0, 1.0, 1.0
    for tokens, tokens_per_pass in sorted(means.items()):
        steps, gained = tokens - at, tokens_per_pass - mean
        if not 0 <= gained <= steps * last + 1e-9:
            raise ValueError(
                f"{tokens_per_pass:g} tokens per pass at {tokens} drafts do not go with"
                f" {mean:g} at {at}: {steps} more can add between 0 and {steps * last:.3g}"
            )
        factor = _factor(gained / last if last else 0.0, steps)
        for _ in range(steps):
            last *= factor
            survival.append(last)
        at, mean = tokens, tokens_per_pass
    return tuple(survival)


def _factor(total: float, steps: int) -> float:
    """Return f in 0..1 with f + f^2 + ... + f^steps = total, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if sum(middle**power for power in range(1, steps + 1)) < total:
            low = middle
        else:
            high = middle
    return high


def survival_of_lengths(rounds: Mapping[int, float], tokens: int) -> Survival:
    """Return survival from how often each number of accepted tokens was seen."""
    total = sum(rounds.values())
    return tuple(
        sum(count for accepted, count in rounds.items() if accepted >= place) / total
        for place in range(1, tokens + 1)
    )


def read_accepted_lengths(path: Path) -> dict[int, float]:
    """Return how often each number of accepted tokens was seen, from a CSV file."""
    where = str(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"the file cannot be read ({reason})", where=where) from None
    if not rows or "accepted" not in rows[0]:
        raise InputError(
            "has no column `accepted`",
            where=where,
            remedy="give one row a round, with the drafted tokens that were accepted",
        )
    seen: dict[int, float] = {}
    for number, row in enumerate(rows, start=2):
        accepted, count = _number(row, "accepted", where, number), 1.0
        if "count" in row:
            count = _number(row, "count", where, number)
        if accepted != int(accepted):
            raise InputError(f"line {number}: `accepted` is no whole number", where=where)
        seen[int(accepted)] = seen.get(int(accepted), 0.0) + count
    if not sum(seen.values()):
        raise InputError("counts no round", where=where)
    return seen


def _number(row: Mapping[str, Any], key: str, where: str, line: int) -> float:
    try:
        value = float(row[key])
    except (TypeError, ValueError):
        value = -1.0
    if value < 0 or not isfinite(value):
        raise InputError(
            f"line {line}: `{key}` should be a number of 0 or more, found {row[key]!r}",
            where=where,
        )
    return value
