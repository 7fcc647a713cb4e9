"""A chain of drafted tokens, verified in one pass (Leviathan et al. 2023, arXiv:2211.17192)."""

from itertools import accumulate, pairwise
from operator import mul
from typing import Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le, MinLen
from pydantic import BaseModel, ConfigDict, model_validator

from sim.decoding.base import BaseStrategy
from sim.decoding.plan import DraftWork, Phase, Plan
from sim.records import IntArray

Probability = Annotated[float, Ge(0), Le(1)]


class RelativeDraft(BaseModel):
    """A drafter whose pass costs a share of the served model's pass at the same batch."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    work_share: Annotated[float, Gt(0), Le(1)]
    """FLOP and bytes of a drafter pass (one drafted token) over those of a pass of the
    served model.
    """


class Speculative(BaseStrategy):
    """Draft tokens one after the other, verify all in one pass, keep the accepted prefix.

    Verification is exact, so the output is that of the served model. Acceptance is given per
    position and has no default: either `conditional_acceptance` (a_j, given that all before
    were accepted; may rise) or `survival` (the product of a_1..a_j; never rises).
    """

    name: Literal["speculative"] = "speculative"
    drafter: str = "chain"
    """Label of the drafter in reports."""
    draft_tokens: Annotated[int, Ge(1), Le(64)]
    conditional_acceptance: Annotated[tuple[Probability, ...], MinLen(1)] | None = None
    survival: Annotated[tuple[Probability, ...], MinLen(1)] | None = None
    draft: RelativeDraft
    source: str | None = None
    """Where the acceptance figures come from."""

    @model_validator(mode="after")
    def _check_acceptance(self) -> Self:
        given = self.conditional_acceptance or self.survival
        if (self.conditional_acceptance is None) == (self.survival is None) or given is None:
            msg = "give one of `conditional_acceptance` and `survival`: acceptance has no default"
            raise ValueError(msg)
        if len(given) != self.draft_tokens:
            found, wanted = len(given), self.draft_tokens
            msg = f"{found} acceptance figures for {wanted} draft_tokens: give one per position"
            raise ValueError(msg)
        if self.survival and any(later > earlier for earlier, later in pairwise(self.survival)):
            msg = f"`survival` {list(self.survival)} rises: a later token needs all before it"
            raise ValueError(msg)
        return self

    @property
    def draft_work(self) -> DraftWork | None:
        """One drafter pass per drafted token."""
        return DraftWork(self.draft_tokens, self.draft.work_share)

    @property
    def lossless(self) -> bool:
        """Verification is exact."""
        return True

    @property
    def basis(self) -> str:
        """Acceptance is given, with its source if there is one."""
        return f"acceptance: {self.source or 'given in the scenario, no source'}"

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """Every request accepts alike."""
        return ("acceptance that differs between requests or drifts",)

    @property
    def knobs(self) -> str:
        """Drafter and length of the chain."""
        tokens = "token" if self.draft_tokens == 1 else "tokens"
        return f"{self.drafter}, {self.draft_tokens} draft {tokens}"

    @property
    def short_knobs(self) -> str:
        """The drafter."""
        return self.drafter

    def survival_by_position(self) -> tuple[float, ...]:
        """Probability that the first j drafted tokens are all accepted, j = 1..draft_tokens."""
        if self.survival is not None:
            return self.survival
        return tuple(accumulate(self.conditional_acceptance or (), mul))

    def mean_tokens_per_pass(self) -> float:
        """Return tau = 1 + the sum of survivals; (1 - a^(g+1)) / (1 - a) for equal a."""
        return 1.0 + sum(self.survival_by_position())

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw rounds until each answer is complete (the first token comes from the prefill)."""
        thresholds = np.array(self.survival_by_position())[::-1]
        rounds = np.zeros(len(output_tokens), dtype=np.int64)
        missing = np.asarray(output_tokens, dtype=np.int64) - 1
        active = np.flatnonzero(missing > 0)
        missing = missing[active]
        while len(active):
            rounds[active] += 1
            # accepted = number of positions j whose survival exceeds the draw
            # (survival falls with j)
            draws = rng.random(len(active))
            accepted = len(thresholds) - np.searchsorted(thresholds, draws, side="right")
            missing = missing - 1 - accepted
            keep = missing > 0
            active, missing = active[keep], missing[keep]
        return rounds

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        """Prefill, then `passes` rounds of draft_tokens + 1 positions."""
        if not passes:
            return Plan(input_tokens, prefill_yields=True, phases=())
        queries = self.draft_tokens + 1
        growth = (output_tokens - 1) / passes
        phase = Phase(
            passes=passes,
            positions=queries,
            logit_positions=float(queries),
            kv_growth=growth,
            read_extra=float(queries),
            pair_extra=queries * (queries + 1) / 2,
            slots_extra=float(queries),
            chunk_passes=1,
            visible_tokens=output_tokens - 1,
        )
        return Plan(input_tokens, prefill_yields=True, phases=(phase,))
