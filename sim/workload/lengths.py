"""How long prompts and answers are: one small class a kind, each an inverse CDF over ranks."""

from functools import cached_property
from math import exp, log, log1p, sqrt
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, model_validator

from sim.records import FloatArray, IntArray
from sim.units import counted
from sim.workload.normal import normal_cdf, normal_scores
from sim.workload.presets import load_workload_preset
from sim.workload.tables import QuantileTable

Tokens = Annotated[int, Ge(1), Le(10_000_000)]
Side = Literal["input_tokens", "output_tokens"]
"""Which length of the request is meant: a preset has one table for each."""


class _Lengths(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Fixed(_Lengths):
    """The same length for every request."""

    kind: Literal["fixed"] = "fixed"
    tokens: Tokens

    def draw(self, ranks: FloatArray, side: Side) -> IntArray:  # noqa: ARG002
        """Return one length per rank, tokens."""
        return np.full(len(ranks), self.tokens, np.int64)

    def mean_tokens(self, side: Side) -> float:  # noqa: ARG002
        """Mean length, tokens."""
        return float(self.tokens)

    def describe(self) -> str:
        """Return the distribution in words."""
        return counted(self.tokens, "token")


class Uniform(_Lengths):
    """Every whole length from `low` to `high`, both included, equally likely."""

    kind: Literal["uniform"] = "uniform"
    low: Tokens
    high: Tokens

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.high < self.low:
            raise ValueError(f"needs `low` <= `high`, found {self.low} and {self.high}")
        return self

    def draw(self, ranks: FloatArray, side: Side) -> IntArray:  # noqa: ARG002
        """Return one length per rank, tokens."""
        steps = np.floor(ranks * (self.high - self.low + 1)).astype(np.int64)
        # a rank is below 1, but a joint draw may round to 1 (probability below 1e-16)
        return np.minimum(self.low + steps, self.high)

    def mean_tokens(self, side: Side) -> float:  # noqa: ARG002
        """Mean length, tokens."""
        return (self.low + self.high) / 2

    def describe(self) -> str:
        """Return the distribution in words."""
        return f"{self.low:,} to {self.high:,} tokens"


class LogNormal(_Lengths):
    """Lognormal, by `mean` and `cv` or `median` and `sigma`; rounded to whole tokens >= 1."""

    kind: Literal["lognormal"] = "lognormal"
    mean: Annotated[float, Ge(1), Le(1e7)] | None = None
    cv: Annotated[float, Gt(0), Le(20)] | None = None
    """Standard deviation / mean."""
    median: Annotated[float, Ge(1), Le(1e7)] | None = None
    sigma: Annotated[float, Gt(0), Le(5)] | None = None
    """Standard deviation of the natural logarithm."""
    max: Tokens | None = None
    """Longer draws are cut to this length, as `max_tokens` cuts an answer."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = {name for name in ("mean", "cv", "median", "sigma") if getattr(self, name)}
        if given not in ({"mean", "cv"}, {"median", "sigma"}):
            raise ValueError(
                "needs `mean` and `cv`, or `median` and `sigma`,"
                f" found {', '.join(sorted(given)) or 'none of them'}"
            )
        return self

    @cached_property
    def _log_parameters(self) -> tuple[float, float]:
        """Mean and standard deviation of the logarithm: σ² = ln(1 + cv²), μ = ln mean - σ²/2."""
        if self.mean is not None and self.cv is not None:
            variance = log1p(self.cv * self.cv)
            return log(self.mean) - variance / 2, sqrt(variance)
        if self.median is not None and self.sigma is not None:
            return log(self.median), self.sigma
        raise TypeError("no parameters")  # the validator sees to it

    def draw(self, ranks: FloatArray, side: Side) -> IntArray:  # noqa: ARG002
        """Return one length per rank, tokens."""
        mu, sigma = self._log_parameters
        tokens = np.maximum(np.rint(np.exp(mu + sigma * normal_scores(ranks))), 1.0)
        if self.max is not None:
            tokens = np.minimum(tokens, self.max)
        return tokens.astype(np.int64)

    def mean_tokens(self, side: Side) -> float:  # noqa: ARG002
        """Mean length before rounding, tokens.

        With a cut at m: E[min(X, m)] = exp(μ + σ²/2) Φ(d - σ) + m (1 - Φ(d)), d = (ln m - μ) / σ.
        """
        mu, sigma = self._log_parameters
        mean = exp(mu + sigma * sigma / 2)
        if self.max is None:
            return mean
        d = (log(self.max) - mu) / sigma
        return mean * normal_cdf(d - sigma) + self.max * normal_cdf(-d)

    def describe(self) -> str:
        """Return the distribution in words."""
        mu, sigma = self._log_parameters
        cut = f", at most {self.max:,}" if self.max is not None else ""
        return f"lognormal (median {exp(mu):,.0f}, sigma {sigma:.2f}{cut}) tokens"


class Quantiles(_Lengths):
    """An empirical distribution: that of a preset, or `quantiles: {0: 1, 0.5: 200, 1: 4000}`."""

    kind: Literal["quantiles"] = "quantiles"
    preset: str | None = None
    """Name of a workload preset; its table for this side is used."""
    quantiles: dict[Annotated[float, Ge(0), Le(1)], Annotated[float, Ge(1), Le(1e7)]] | None = None
    """Tokens by probability, from 0 to 1; linear in between, rounded to whole tokens."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.preset is None) == (self.quantiles is None):
            raise ValueError("needs either `preset` or `quantiles`")
        self.table("input_tokens")
        return self

    def table(self, side: Side) -> QuantileTable:
        """Return the table of quantiles for one side of the request."""
        if self.preset is not None:
            preset = load_workload_preset(self.preset)
            return preset.input_table if side == "input_tokens" else preset.output_table
        pairs = sorted((self.quantiles or {}).items())
        return QuantileTable.of([p for p, _ in pairs], [tokens for _, tokens in pairs])

    def draw(self, ranks: FloatArray, side: Side) -> IntArray:
        """Return one length per rank, tokens."""
        return self.table(side).tokens_at(ranks)

    def mean_tokens(self, side: Side) -> float:
        """Mean length before rounding, tokens."""
        return self.table(side).mean

    def describe(self) -> str:
        """Return the distribution in words."""
        return f"tokens as in {self.preset}" if self.preset else "tokens by quantiles"


class FromTrace(_Lengths):
    """The length that the trace of the arrivals recorded for each request."""

    kind: Literal["trace"] = "trace"


Drawn = Fixed | Uniform | LogNormal | Quantiles
"""Lengths that are drawn at random (or fixed)."""
Lengths = Annotated[Drawn | FromTrace, Field(discriminator="kind")]
