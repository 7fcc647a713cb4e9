"""Weights of classes that share the tokens: as a scenario names them, and in their order."""

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Gt, Le
from pydantic import Discriminator, Field, Tag

from sim.errors import InputError

Weight = Annotated[float, Gt(0), Le(1e6)]
_WHERE = "scheduler.class_weights"


def _form(given: object) -> str | None:
    """Return how weights are given; `None`: in no way that is known."""
    if isinstance(given, Mapping):
        return "names"
    return "order" if isinstance(given, list | tuple) else None


ClassWeights = Annotated[
    Annotated[dict[str, Weight], Tag("names"), Field(max_length=1000)]
    | Annotated[tuple[Weight, ...], Tag("order"), Field(max_length=1000)],
    Discriminator(
        _form,
        custom_error_type="class_weights",
        custom_error_message="should give classes their weights by name, as in {chat: 3}",
    ),
]
"""By name, or a list in the order of the classes."""


def in_order(weights: ClassWeights, names: tuple[str, ...]) -> tuple[float, ...]:
    """Return the weights in the order of the classes of the traffic; 1 where one has none."""
    known = ", ".join(names)
    if not isinstance(weights, Mapping):
        if len(weights) <= len(names):
            return weights
        raise InputError(
            f"there are {len(weights)} weights, but the classes of the traffic are {known}",
            where=_WHERE,
            remedy=f"give them by name, as in {{{names[0]}: 2}}",
        )
    for name in weights:
        if name not in names:
            raise InputError(
                f"there is a weight for {name}, but the classes of the traffic are {known}",
                where=_WHERE,
                remedy="name one of them",
            )
    return tuple(weights.get(name, 1.0) for name in names)
