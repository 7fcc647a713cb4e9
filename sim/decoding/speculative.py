"""Drafted tokens, verified in one pass (Leviathan et al. 2023, arXiv:2211.17192)."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from pydantic import model_validator

from sim.decoding.base import BaseStrategy
from sim.decoding.drafters import AnyDraft, Tree
from sim.decoding.plan import DraftWork, Plan
from sim.decoding.policies import AnyPolicy
from sim.decoding.rounds import draw_rounds, verifying
from sim.decoding.stated import StatedAcceptance
from sim.records import IntArray


class Speculative(StatedAcceptance, BaseStrategy):
    """Draft tokens, verify all in one pass, keep the accepted prefix.

    Verification is exact, so the output is that of the served model. Acceptance has no default:
    it is stated in one of the ways of `Acceptance`, by a published `table`, or by domain.
    """

    name: Literal["speculative"] = "speculative"
    drafter: str = "chain"
    """Label of the drafter in reports."""
    tree: Tree | None = None
    draft: AnyDraft | None = None
    """What the drafter computes; None: as the `table` says."""
    policy: AnyPolicy | None = None
    """When to speculate and how much to verify; None: always, all drafts."""

    @model_validator(mode="after")
    def _check_draft(self) -> Self:
        if self.draft is None and self.table is None:
            raise ValueError("`draft` is missing: say what the drafter computes")
        if self.tree is not None and self.tree.nodes <= self.draft_tokens:
            msg = f"a tree of {self.tree.nodes} nodes is not {self.draft_tokens} drafts deep"
            raise ValueError(msg)
        if self.tree is not None and self.policy is not None and self.policy.kind == "adaptive":
            raise ValueError("`policy` adaptive verifies chains, not trees")
        return self

    # -- what it rests on ----------------------------------------------------------------------

    @property
    def drafting(self) -> Any:  # noqa: ANN401  # AnyDraft is a union with tags, no type
        """What the drafter computes: as given, or as the table says."""
        table = self.published
        return table.draft if self.draft is None and table is not None else self.draft

    @property
    def draft_work(self) -> DraftWork | None:
        """The drafter's passes in each round."""
        work: DraftWork | None = self.drafting.work(
            self.draft_tokens, 1 if self.tree is None else self.tree.width
        )
        return work

    @property
    def lossless(self) -> bool:
        """Verification is exact."""
        return True

    @property
    def prefix_reusable(self) -> bool:
        """Attention is causal, and what is not verified is dropped."""
        return True

    @property
    def assumed(self) -> bool:
        """Given acceptance is; a published table was measured."""
        return self.table is None or self.acceptance_scale != 1.0

    @property
    def basis(self) -> str:
        """Acceptance is given, or published, with its source if there is one."""
        table = self.published
        drift = "" if self.acceptance_scale == 1.0 else f", scaled by {self.acceptance_scale:g}"
        if table is None:
            return f"acceptance: {self.source or 'given in the scenario, no source'}{drift}"
        about = ", ".join(self.domain_mix or ([self.domain] if self.domain else []))
        where = f"{self.table}{f' ({about})' if about else ''}"
        return f"acceptance: {where}: {table.source} ({table.as_of}), {table.hardware}{drift}"

    @property
    def not_modelled(self) -> tuple[str, ...]:
        """Requests of one domain accept alike."""
        if self.domain_mix is None and self.acceptance_scale == 1.0:
            return ("acceptance that differs between requests or drifts",)
        return ("acceptance that differs between requests of one domain",)

    @property
    def knobs(self) -> str:
        """Drafter, length of the chain or size of the tree, policy."""
        tokens = "token" if self.draft_tokens == 1 else "tokens"
        words = [self.drafter, f"{self.draft_tokens} draft {tokens}"]
        if self.tree is not None:
            words.append(f"tree of {self.tree.nodes}")
        if self.policy is not None:
            words.append(self.policy.words)
        return ", ".join(words)

    @property
    def short_knobs(self) -> str:
        """The drafter, and the policy if there is one."""
        return self.drafter if self.policy is None else f"{self.drafter}, {self.policy.words}"

    def mean_tokens_per_pass(self) -> float:
        """Return tau = 1 + the sum of survivals; (1 - a^(g+1)) / (1 - a) for equal a.

        Over domains it is the harmonic mean: of answers alike in length, those that accept less
        take more passes.
        """
        return 1.0 + sum(self.mean_survival())

    # -- rounds --------------------------------------------------------------------------------

    def mean_passes(self, output_tokens: float) -> float:
        """Return the rounds of all tokens after the first, in the long run."""
        return max(0.0, output_tokens - 1) / self.mean_tokens_per_pass()

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw rounds until each answer is complete (the first token comes from the prefill)."""
        mix = self.domain_mix
        if mix is None:
            return draw_rounds(self.survival_by_position(), output_tokens, rng)
        shares = np.array(list(mix.values()))
        rows = rng.choice(len(shares), size=len(output_tokens), p=shares / shares.sum())
        return self.draw_passes_of(output_tokens, tuple(mix), rows, rng)

    def draw_passes_of(
        self,
        output_tokens: IntArray,
        domains: Sequence[str],
        rows: IntArray,
        rng: np.random.Generator,
    ) -> IntArray:
        """Draw the rounds of requests whose domains are known: `domains[rows[i]]`."""
        if self.domain_mix is None:
            return draw_rounds(self.survival_by_position(), output_tokens, rng)
        rounds = np.zeros(len(output_tokens), dtype=np.int64)
        for place, domain in enumerate(domains):
            mine = np.flatnonzero(rows == place)
            own = self.survival_by_position(domain)
            rounds[mine] = draw_rounds(own, output_tokens[mine], rng)
        return rounds

    @property
    def positions(self) -> int:
        """Query positions of a verification."""
        return self.draft_tokens + 1 if self.tree is None else self.tree.nodes

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        """Prefill, then `passes` rounds of as many positions as are verified."""
        if not passes:
            return Plan(input_tokens, prefill_yields=True, phases=())
        phase = verifying(self.positions, passes, output_tokens - 1)
        return Plan(input_tokens, prefill_yields=True, phases=(phase,))
