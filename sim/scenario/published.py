"""Strategies by name: `speculative:eagle3` stands for a published drafter of the served model."""

from collections.abc import Mapping
from typing import Any

from sim.decoding import published_variant
from sim.errors import InputError
from sim.model import load_model


def named_strategy(name: str, model: object) -> dict[str, Any]:
    """Return the keys of a strategy that is given by its name alone, for a served model.

    `speculative:<drafter>` takes the published acceptance and drafter; any other name stands for
    a strategy that needs no settings.
    """
    kind, _, drafter = name.strip().partition(":")
    if kind != "speculative":
        return {"name": kind}
    if not drafter:
        raise InputError(
            "`speculative` needs a drafter and its acceptance: there is no default",
            where="decoding",
            remedy="name a published one, such as speculative:eagle3, or give your own",
        )
    if not isinstance(model, str | Mapping):
        raise InputError("is missing", where="model")
    return published_variant(drafter, [load_model(model).name])


def with_named_strategies(content: Mapping[str, object]) -> dict[str, object]:
    """Return the keys of a scenario with every strategy that is a name spelt out."""
    told = dict(content)
    decoding, listed = content.get("decoding"), content.get("strategies")
    if isinstance(decoding, str):
        told["decoding"] = named_strategy(decoding, content.get("model"))
    if isinstance(listed, list):
        told["strategies"] = [
            named_strategy(one, content.get("model")) if isinstance(one, str) else one
            for one in listed
        ]
    return told
