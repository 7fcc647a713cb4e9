"""Drafted tokens, verified in one pass (Leviathan et al. 2023, arXiv:2211.17192)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le, MinLen
from pydantic import model_validator

from sim.decoding.acceptance import Acceptance, Survival
from sim.decoding.base import BaseStrategy
from sim.decoding.drafters import AnyDraft, Tree
from sim.decoding.plan import DraftWork, Plan
from sim.decoding.policies import AnyPolicy
from sim.decoding.published import AcceptanceTable, load_acceptance
from sim.decoding.rounds import draw_rounds, scaled, verifying
from sim.errors import InputError
from sim.records import IntArray

Share = Annotated[float, Gt(0)]


class Speculative(Acceptance, BaseStrategy):
    """Draft tokens, verify all in one pass, keep the accepted prefix.

    Verification is exact, so the output is that of the served model. Acceptance has no default:
    it is stated in one of the ways of `Acceptance`, by a published `table`, or by domain.
    """

    name: Literal["speculative"] = "speculative"
    drafter: str = "chain"
    """Label of the drafter in reports."""
    draft_tokens: Annotated[int, Ge(1), Le(64)]
    """Tokens drafted one after the other: the chain, or the depth of the tree."""
    tree: Tree | None = None
    draft: AnyDraft | None = None
    """What the drafter computes; None: as the `table` says."""
    table: str | None = None
    """Published acceptance by domain and temperature: a name of the catalog or a file."""
    by_domain: Annotated[dict[str, Acceptance], MinLen(1)] | None = None
    """Acceptance of each domain of the workload."""
    domain: str | None = None
    """The domain of every request, where the workload has no mix of them."""
    temperature: Annotated[float, Ge(0), Le(5)] | None = None
    """Sampling temperature, where a table has several."""
    measured_with: str | None = None
    """Served model of the figures, where a table has several."""
    acceptance_scale: Annotated[float, Ge(0), Le(2)] = 1.0
    """Drift: the acceptance of every position (a_j) is multiplied by this, up to 1."""
    policy: AnyPolicy | None = None
    """When to speculate and how much to verify; None: always, all drafts."""
    domain_mix: dict[str, Share] | None = None
    """Share of the requests by domain; taken from `workload.domains`."""
    source: str | None = None
    """Where the acceptance figures come from."""

    @model_validator(mode="after")
    def _check_acceptance(self) -> Self:
        stated = [*self.ways, *(["table"] if self.table else [])]
        stated += ["by_domain"] if self.by_domain else []
        if len(stated) != 1:
            msg = "give one of `conditional_acceptance` and `survival`, or another statement of it"
            found = f": found {', '.join(stated)}" if stated else ": acceptance has no default"
            raise ValueError(msg + found)
        if self.draft is None and self.table is None:
            raise ValueError("`draft` is missing: say what the drafter computes")
        if self.tree is not None and self.tree.nodes <= self.draft_tokens:
            msg = f"a tree of {self.tree.nodes} nodes is not {self.draft_tokens} drafts deep"
            raise ValueError(msg)
        if self.tree is not None and self.policy is not None and self.policy.kind == "adaptive":
            raise ValueError("`policy` adaptive verifies chains, not trees")
        self._check_positions(self, "")
        for name, given in (self.by_domain or {}).items():
            if len(given.ways) != 1:
                raise ValueError(f"`by_domain` {name} needs one statement of acceptance")
            self._check_positions(given, f" of {name}")
        return self

    def _check_positions(self, given: Acceptance, of: str) -> None:
        found, wanted = given.stated_positions, self.draft_tokens
        exact = given.survival is not None or given.conditional_acceptance is not None
        if found is not None and (found < wanted or (exact and found != wanted)):
            msg = (
                f"{found} acceptance figures{of} for {wanted} draft_tokens: give one per position"
            )
            raise ValueError(msg)

    # -- what it rests on ----------------------------------------------------------------------

    @property
    def published(self) -> AcceptanceTable | None:
        """The published table, if one is named."""
        return None if self.table is None else load_acceptance(self.table)

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

    def relative_to(self, folder: Path) -> Self:
        """Return the same with relative paths of files taken from `folder`."""
        found = super().relative_to(folder)
        update: dict[str, Any] = {}
        if self.table is not None and self.table.endswith((".yaml", ".yml")):
            update["table"] = str(folder / Path(self.table).expanduser())
        if self.by_domain is not None:
            update["by_domain"] = {k: v.relative_to(folder) for k, v in self.by_domain.items()}
        return found.model_copy(update=update) if update else found

    # -- acceptance ----------------------------------------------------------------------------

    def among(self, mix: Mapping[str, float] | None) -> Self:
        """Return the same for a workload of so many shares of domains; None: it has none."""
        if mix == self.domain_mix or (self.table is None and self.by_domain is None):
            return self
        return self.model_copy(update={"domain_mix": None if mix is None else dict(mix)})

    def survival_by_position(self, domain: str | None = None) -> Survival:
        """Probability that the first j drafted tokens are all accepted, j = 1..draft_tokens.

        Of one domain; None: of the domain that the strategy names, or of them all.
        """
        return scaled(self._stated(domain or self.domain), self.acceptance_scale)

    def _stated(self, domain: str | None) -> Survival:
        table, tokens = self.published, self.draft_tokens
        if table is not None:
            row = table.pick(domain, self.temperature, self.measured_with)
            found = row.stated_positions
            if found is not None and found < tokens:
                raise InputError(
                    f"{self.table} has acceptance of {found} positions in {row.domain}",
                    where="decoding.draft_tokens",
                    remedy=f"use {found} at most",
                )
            return row.survival_of(tokens)
        if self.by_domain is None:
            return self.survival_of(tokens)
        if domain not in self.by_domain:
            raise InputError(
                f"there is no acceptance for the domain {domain!r}"
                if domain
                else "acceptance is given by domain, and neither it nor the workload names one",
                where="decoding.by_domain",
                remedy=f"name one of {', '.join(self.by_domain)}",
            )
        return self.by_domain[domain].survival_of(tokens)

    def mean_survival(self) -> Survival:
        """Return survival by position over the rounds of all domains.

        Of answers alike in length, a domain has rounds in inverse proportion to its tokens in one.
        """
        mix = self.domain_mix
        if mix is None:
            return self.survival_by_position()
        by_domain = [self.survival_by_position(domain) for domain in mix]
        rounds = [s / (1.0 + sum(own)) for s, own in zip(mix.values(), by_domain, strict=True)]
        return tuple(
            sum(weight * value for weight, value in zip(rounds, place, strict=True)) / sum(rounds)
            for place in zip(*by_domain, strict=True)
        )

    def mean_tokens_per_pass(self) -> float:
        """Return tau = 1 + the sum of survivals; (1 - a^(g+1)) / (1 - a) for equal a.

        Over domains it is the harmonic mean: of answers alike in length, those that accept less
        take more passes.
        """
        return 1.0 + sum(self.mean_survival())

    # -- rounds --------------------------------------------------------------------------------

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
