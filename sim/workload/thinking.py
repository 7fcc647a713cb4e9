"""How long a user thinks between an answer and the next request."""

from math import log1p, sqrt
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, model_validator

from sim.records import FloatArray

Seconds = Annotated[float, Ge(0), Le(604_800)]


class Thinking(BaseModel):
    """Keys of whatever holds a pause of users."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    think_s: Seconds = 0.0
    """Mean pause between an answer and the user's next request, s."""
    think: Literal["fixed", "exponential", "lognormal"] = "fixed"
    """How the pauses are spread about their mean."""
    think_cv: Annotated[float, Gt(0), Le(20)] | None = None
    """Standard deviation / mean of a lognormal pause; 1 where it is left out."""

    @model_validator(mode="after")
    def _check_thinking(self) -> Self:
        if self.think_cv is not None and self.think != "lognormal":
            raise ValueError(f"has `think_cv`, which a pause that is {self.think} does not take")
        return self

    @property
    def pauses_vary(self) -> bool:
        """Whether two pauses may differ."""
        return self.think != "fixed" and self.think_s > 0

    def pauses_s(self, count: int, stream: np.random.Generator) -> FloatArray:
        """Return so many pauses, s; the first do not depend on how many are drawn."""
        if self.think == "fixed":
            return np.full(count, self.think_s)
        if self.think == "exponential":
            return self.think_s * stream.standard_exponential(count)
        variance = log1p((self.think_cv or 1.0) ** 2)
        scores = stream.standard_normal(count)
        return self.think_s * np.exp(sqrt(variance) * scores - variance / 2)

    def thinking(self) -> str:
        """Return the pause in words; empty where there is none."""
        if not self.think_s:
            return ""
        spread = "" if self.think == "fixed" else f" on average ({self.think})"
        return f"pause {self.think_s:g} s{spread}"
