"""Acceptance as a strategy states it: of every request, by domain, or from a published table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import AfterValidator, model_validator

from sim.decoding.acceptance import Acceptance, Survival
from sim.decoding.frozen import FrozenDict
from sim.decoding.published import AcceptanceTable, load_acceptance
from sim.decoding.rounds import scaled
from sim.errors import InputError
from sim.units import counted

Share = Annotated[float, Gt(0)]


class StatedAcceptance(Acceptance):
    """One statement of acceptance, and how it drifts."""

    draft_tokens: Annotated[int, Ge(1), Le(64)]
    """Tokens drafted one after the other: the chain, or the depth of the tree."""
    table: str | None = None
    """Published acceptance by domain and temperature: a name of the catalog or a file."""
    by_domain: Annotated[dict[str, Acceptance], MinLen(1), AfterValidator(FrozenDict)] | None = (
        None
    )
    """Acceptance of each domain of the workload."""
    domain: str | None = None
    """The domain whose figures every request takes; None: those that the workload names."""
    temperature: Annotated[float, Ge(0), Le(5)] | None = None
    """Sampling temperature, where a table has several."""
    measured_with: str | None = None
    """Served model of the figures, where a table has several."""
    acceptance_scale: Annotated[float, Ge(0), Le(2)] = 1.0
    """Drift: the acceptance of every position (a_j) is multiplied by this, up to 1."""
    domain_mix: Annotated[dict[str, Share], AfterValidator(FrozenDict)] | None = None
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

    @property
    def published(self) -> AcceptanceTable | None:
        """The published table, if one is named."""
        return None if self.table is None else load_acceptance(self.table)

    def relative_to(self, folder: Path) -> Self:
        """Return the same with relative paths of files taken from `folder`."""
        found = super().relative_to(folder)
        update: dict[str, Any] = {}
        if self.table is not None and self.table.endswith((".yaml", ".yml")):
            update["table"] = str(folder / Path(self.table).expanduser())
        if self.by_domain is not None:
            own = ((name, one.relative_to(folder)) for name, one in self.by_domain.items())
            update["by_domain"] = FrozenDict(own)
        return found.model_copy(update=update) if update else found

    def among(self, mix: Mapping[str, float] | None) -> Self:
        """Return the same for a workload of so many shares of domains; None: it has none."""
        by_domain = self.table is not None or self.by_domain is not None
        if mix == self.domain_mix or self.domain is not None or not by_domain:
            return self
        return self.model_copy(update={"domain_mix": None if mix is None else FrozenDict(mix)})

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
                    f"{self.table} has acceptance of {counted(found, 'position')} in {row.domain}",
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
