"""When to speculate, and how much to verify: what a scenario says of it.

What a policy decides depends on the batch, so the deciding is left to
the engine (`sim.engine.policies`).
"""

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field

from sim.units import counted


class _Policy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class FixedDrafts(_Policy):
    """Always draft and verify as many: the same as no policy."""

    kind: Literal["fixed"]

    @property
    def words(self) -> str:
        """The policy in a few words."""
        return "all drafts verified"


class OffAbove(_Policy):
    """Speculate while few sequences decode, and one token a pass when there are more."""

    kind: Literal["off_above"]
    sequences: Annotated[int, Ge(0), Le(65536)]
    """Most sequences that decode at once with speculation."""

    @property
    def words(self) -> str:
        """The policy in a few words."""
        return f"off above {counted(self.sequences, 'sequence')}"


class Adaptive(_Policy):
    """Verify as many drafts as maximise expected tokens per second (vLLM, August 2026).

    Every round of every request has its own confidence in each drafted position; the B drafts of
    the batch that are most likely to survive are verified.
    """

    kind: Literal["adaptive"]
    confidence_concentration: Annotated[float, Gt(0), Le(1000)]
    """How alike rounds are: the confidence in position j is Beta-distributed with mean a_j and
    variance a_j (1 - a_j) / (concentration + 1). Towards 0 the drafter knows what will be
    accepted, at 1,000 all rounds are alike."""

    @property
    def words(self) -> str:
        """The policy in a few words."""
        return "adaptive verification"


AnyPolicy = Annotated[FixedDrafts | OffAbove | Adaptive, Field(discriminator="kind")]
