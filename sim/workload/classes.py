"""Request classes: kinds of requests that share a deployment, each with its own lengths."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from sim.records import DEFAULT_CLASS, IntArray
from sim.workload.lengths import Drawn, Fixed, FromTrace, Lengths
from sim.workload.presets import load_workload_preset
from sim.workload.streams import open_uniforms

PrefixTokens = Annotated[int, Ge(0), Le(10_000_000)]
PrefixCount = Annotated[int, Ge(1), Le(10_000_000)]
_ROUNDING = 1e-6


def known_dependence(value: float | str) -> float | str:
    """Refuse a correlation that is none, and the name of a preset that does not exist."""
    if isinstance(value, str):
        load_workload_preset(value)
    elif not -1 <= value <= 1:
        raise ValueError(f"should lie between -1 and 1, found {value:g}")
    return value


Dependence = Annotated[float | str, AfterValidator(known_dependence)]
DrawnLengths = Annotated[Drawn, Field(discriminator="kind")]


class RequestClass(BaseModel):
    """One kind of requests. What is left out is as in the workload."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$", max_length=60)]
    share: Annotated[float, Gt(0), Le(1)]
    """Of all requests (of all sessions, where there are sessions)."""
    input_tokens: DrawnLengths | None = None
    output_tokens: DrawnLengths | None = None
    length_correlation: Dependence | None = None
    """Rank correlation of input and output; left out: the workload's, if the lengths are too."""
    priority: Annotated[int, Ge(-1000), Le(1000)] = 0
    """Lower is served first, where the scheduler looks at it."""
    shared_prefix_tokens: PrefixTokens | None = None
    shared_prefixes: PrefixCount | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A class with everything filled in."""

    name: str
    share: float
    input_tokens: Drawn
    output_tokens: Drawn
    length_correlation: float | str
    priority: int = 0
    shared_prefix_tokens: int = 0
    shared_prefixes: int = 1

    def least_tokens(self) -> int:
        """Return the prefix and those lengths that are fixed, tokens."""
        parts = (self.input_tokens, self.output_tokens)
        fixed = sum(part.tokens for part in parts if isinstance(part, Fixed))
        return self.shared_prefix_tokens + fixed

    def mean_tokens(self) -> tuple[float, float]:
        """Mean length of a text of the user, and of an answer, tokens."""
        return (
            self.input_tokens.mean_tokens("input_tokens"),
            self.output_tokens.mean_tokens("output_tokens"),
        )

    def describe(self) -> str:
        """Return the lengths in words."""
        parts = [
            f"input {self.input_tokens.describe()}, output {self.output_tokens.describe()}",
        ]
        if self.shared_prefix_tokens:
            prompts = f"one of {self.shared_prefixes:,}" if self.shared_prefixes > 1 else "one"
            parts.append(f"{prompts} shared prefix of {self.shared_prefix_tokens:,} tokens")
        if isinstance(self.length_correlation, str):
            parts.append(f"joint lengths as in {self.length_correlation}")
        elif self.length_correlation != 0:
            parts.append(f"rank correlation of the lengths {self.length_correlation:g}")
        return ", ".join(parts)


def check_classes(classes: Sequence[RequestClass]) -> None:
    """Raise `ValueError` in one sentence where the classes do not go together."""
    names = [one.name for one in classes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"has two classes named {', '.join(twice)}")
    total = sum(one.share for one in classes)
    if abs(total - 1) > _ROUNDING:
        shares = " + ".join(f"{one.share:g}" for one in classes)
        raise ValueError(
            f"needs shares of the classes that add up to 1, found {shares} = {total:g}"
        )


def kinds_of(
    classes: Sequence[RequestClass] | None,
    input_tokens: Lengths | None,
    output_tokens: Lengths | None,
    length_correlation: float | str,
    *,
    shared_prefix_tokens: int,
    shared_prefixes: int,
) -> tuple[Kind, ...]:
    """Return the classes with what they leave out taken from the workload; at least one."""
    kinds = []
    for one in classes or (RequestClass(name=DEFAULT_CLASS, share=1),):
        own = one.input_tokens is not None or one.output_tokens is not None
        dependence = 0.0 if own else length_correlation
        prefix, prefixes = one.shared_prefix_tokens, one.shared_prefixes
        kinds.append(
            Kind(
                name=one.name,
                share=one.share,
                input_tokens=_needed(one, one.input_tokens or input_tokens, "input_tokens"),
                output_tokens=_needed(one, one.output_tokens or output_tokens, "output_tokens"),
                length_correlation=(
                    dependence if one.length_correlation is None else one.length_correlation
                ),
                priority=one.priority,
                shared_prefix_tokens=shared_prefix_tokens if prefix is None else prefix,
                shared_prefixes=shared_prefixes if prefixes is None else prefixes,
            )
        )
    return tuple(kinds)


def _needed(one: RequestClass, lengths: Lengths | None, side: str) -> Drawn:
    if lengths is None or isinstance(lengths, FromTrace):
        whose = "" if one.name == DEFAULT_CLASS else f" for the class {one.name}"
        raise ValueError(f"needs `{side}`{whose}")
    return lengths


def draw_classes(shares: Sequence[float], count: int, stream: np.random.Generator) -> IntArray:
    """Return a class for each row, by their shares, each independently of the others."""
    edges = np.cumsum(shares)[:-1]
    return np.searchsorted(edges, open_uniforms(stream, count), side="right").astype(np.int64)
