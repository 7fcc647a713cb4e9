"""Speculation as the knobs of the sidebar show it: acceptance, drafter, tree, policy."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from math import isclose
from operator import mul
from typing import Any, Final

from app.dashboard import drafters
from app.dashboard.drafters import AS_PUBLISHED, DrafterKnobs
from app.dashboard.typed import numbers_of
from sim.decoding import (
    Adaptive,
    AnyPolicy,
    OffAbove,
    Speculative,
    list_acceptance,
    load_acceptance,
)
from sim.errors import InputError
from sim.yaml_files import validate

UNSTATED: Final = "choose one"
"""Acceptance has no default."""
BY_POSITION: Final = "own figures"
BY_LIST: Final = "own list"
BY_MEAN: Final = "own tokens per round"
MIXTURE: Final = "own mixture"
OWN: Final = (BY_POSITION, BY_LIST, BY_MEAN, MIXTURE)
AS_TRAFFIC: Final = "as the traffic mixes them"
ALWAYS: Final = "always"
OFF_ABOVE: Final = "off above a batch"
ADAPTIVE: Final = "adaptive"
POLICIES: Final = (ALWAYS, OFF_ABOVE, ADAPTIVE)
SOURCE: Final = "set on the page"
_DIGITS: Final = 6
"""Of a percentage in a list: what is cut off changes no figure that anybody reads."""


@dataclass(frozen=True)
class SpeculationKnobs(DrafterKnobs):
    """The knobs of speculation, those that are out of sight included."""

    acceptance: str = UNSTATED
    """Name of a published table, or one of `OWN`."""
    domain: str = AS_TRAFFIC
    temperature: str = ""
    measured_with: str = ""
    draft_tokens: int = 3
    accepted_percent: int = 70
    """Acceptance of the first drafted token."""
    fall_points: int = 5
    """By how many points each further position is accepted less often."""
    acceptance_list: str = ""
    """Percent by position, with commas between."""
    round_tokens: float = 2.0
    """Mean tokens of a round, the one that the target adds included."""
    none_percent: int = 30
    all_percent: int = 30
    drift_percent: int = 100
    tree_nodes: int = 0
    """0: a chain."""
    tree_width: int = 1
    policy: str = ALWAYS
    policy_sequences: int = 32
    policy_concentration: float = 4.0

    @property
    def acceptance_percent(self) -> tuple[int, ...]:
        """Acceptance of each position, given that all before were accepted; never below none."""
        falls = range(self.draft_tokens)
        return tuple(max(0, self.accepted_percent - fall * self.fall_points) for fall in falls)


def strategy_of(knobs: SpeculationKnobs) -> Speculative:
    """Return what the knobs mean; raises one sentence where they do not go together."""
    if knobs.acceptance == UNSTATED:
        raise InputError(
            "how many drafts are accepted has no default",
            where="Acceptance",
            remedy="choose a published table, or figures of your own",
        )
    keys: dict[str, Any] = {
        "drafter": _label(knobs),
        "draft_tokens": knobs.draft_tokens,
        "draft": drafters.keys_of(knobs),
        "policy": _policy(knobs),
        "acceptance_scale": knobs.drift_percent / 100,
        **_stated(knobs),
    }
    if knobs.tree_nodes:
        keys["tree"] = {"nodes": knobs.tree_nodes, "width": knobs.tree_width}
    return validate(Speculative, {k: v for k, v in keys.items() if v is not None}, "decoding")


def _label(knobs: SpeculationKnobs) -> str:
    if knobs.drafter == AS_PUBLISHED and knobs.acceptance in list_acceptance():
        return load_acceptance(knobs.acceptance).drafter
    return drafters.label_of(knobs, f"chain of {knobs.draft_tokens}")


def _stated(knobs: SpeculationKnobs) -> dict[str, Any]:
    if knobs.acceptance not in OWN:
        temperature = float(knobs.temperature) if knobs.temperature else None
        return {
            "table": knobs.acceptance,
            "domain": None if knobs.domain == AS_TRAFFIC else knobs.domain,
            "temperature": temperature,
            "measured_with": knobs.measured_with or None,
        }
    if knobs.acceptance == BY_MEAN:
        said: dict[str, Any] = {"tokens_per_pass": {knobs.draft_tokens: knobs.round_tokens}}
    elif knobs.acceptance == MIXTURE:
        shares = {"none": knobs.none_percent / 100, "all": knobs.all_percent / 100}
        said = {"all_or_nothing": shares}
    else:
        listed = knobs.acceptance == BY_LIST
        percents = _listed(knobs) if listed else knobs.acceptance_percent
        said = {"conditional_acceptance": [percent / 100 for percent in percents]}
    return {**said, "source": SOURCE}


def _listed(knobs: SpeculationKnobs) -> list[float]:
    """Return the percentages of the list; raises one sentence where it is none."""
    fault = InputError(
        f"expected percentages with commas between, found {knobs.acceptance_list!r}",
        where="Acceptance by position",
        remedy="for example 80, 70, 65",
    )
    percents = numbers_of(knobs.acceptance_list.replace("%", ""), float, fault)
    if len(percents) != knobs.draft_tokens:
        raise InputError(
            f"{len(percents)} figures for {knobs.draft_tokens} draft tokens",
            where="Acceptance by position",
            remedy="give one per position",
        )
    return percents


def _policy(knobs: SpeculationKnobs) -> dict[str, Any] | None:
    if knobs.policy == OFF_ABOVE:
        return {"kind": "off_above", "sequences": knobs.policy_sequences}
    if knobs.policy == ADAPTIVE:
        return {"kind": "adaptive", "confidence_concentration": knobs.policy_concentration}
    return None


def values_of(strategy: Speculative) -> dict[str, Any] | None:
    """Return the knobs that spell out a strategy; None where they cannot."""
    own_table = strategy.table is not None and strategy.table not in list_acceptance()
    if own_table or strategy.by_domain is not None:
        return None
    values: dict[str, Any] = {
        "draft_tokens": strategy.draft_tokens,
        "drift_percent": round(100 * strategy.acceptance_scale),
        **drafters.values_of(strategy.draft),
        **_values_of_policy(strategy.policy),
    }
    if strategy.tree is not None:
        values |= {"tree_nodes": strategy.tree.nodes, "tree_width": strategy.tree.width}
    values |= _values_of_acceptance(strategy)
    return values if _same(strategy, values) else None


def _values_of_policy(policy: AnyPolicy | None) -> dict[str, Any]:
    if isinstance(policy, OffAbove):
        return {"policy": OFF_ABOVE, "policy_sequences": policy.sequences}
    if isinstance(policy, Adaptive):
        return {"policy": ADAPTIVE, "policy_concentration": policy.confidence_concentration}
    return {"policy": ALWAYS}


def _values_of_acceptance(strategy: Speculative) -> dict[str, Any]:
    if strategy.table is not None:
        temperature = strategy.temperature
        return {
            "acceptance": strategy.table,
            "domain": strategy.domain or AS_TRAFFIC,
            "temperature": "" if temperature is None else f"{temperature:g}",
            "measured_with": strategy.measured_with or "",
        }
    means, mixture = strategy.tokens_per_pass, strategy.all_or_nothing
    if means is not None and set(means) == {strategy.draft_tokens}:
        return {"acceptance": BY_MEAN, "round_tokens": means[strategy.draft_tokens]}
    if mixture is not None:
        shares = round(100 * mixture.none), round(100 * mixture.all)
        return {"acceptance": MIXTURE, "none_percent": shares[0], "all_percent": shares[1]}
    survival = strategy.survival_of(strategy.draft_tokens)
    before = (1.0, *survival)
    given = [100 * s / b if b else 0.0 for s, b in zip(survival, before, strict=False)]
    falls = {round(a - b, _DIGITS) for a, b in pairwise(given)} or {0.0}
    first, fall = round(given[0], _DIGITS), falls.pop()
    if not falls and fall >= 0 and first == int(first) and fall == int(fall):
        own = {"accepted_percent": int(first), "fall_points": int(fall)}
        return {"acceptance": BY_POSITION, **own}
    words = ", ".join(f"{percent:.{_DIGITS}g}" for percent in given)
    return {"acceptance": BY_LIST, "acceptance_list": words}


def _same(strategy: Speculative, values: Mapping[str, Any]) -> bool:
    """Tell whether the knobs give the same figures back."""
    names = {field.name for field in fields(SpeculationKnobs)}
    try:
        again = strategy_of(SpeculationKnobs(**{k: v for k, v in values.items() if k in names}))
    except InputError:
        return False
    if (again.draft, again.tree, again.acceptance_scale) != (
        *(strategy.draft, strategy.tree, strategy.acceptance_scale),
    ):
        return False
    if strategy.table is not None:
        return True
    tokens = strategy.draft_tokens
    pairs = zip(again.survival_of(tokens), strategy.survival_of(tokens), strict=True)
    return all(isclose(mine, its, rel_tol=10**-_DIGITS * 10) for mine, its in pairs)


def survival_words(percents: tuple[float, ...]) -> str:
    """Return how many drafts survive to each position, in percent.

    >>> survival_words((80, 50))
    '80 · 40%'
    """
    shares = accumulate((percent / 100 for percent in percents), mul)
    return " · ".join(f"{100 * share:.0f}" for share in shares) + "%"
