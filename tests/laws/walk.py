"""What kernels of a pass take, side by side: on GPUs, under engines, in formats."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from sim.cost import ForwardPass, even_load, even_prompt
from sim.cost.formats import stored_formats
from tests.laws.loads import Layout, machine, model_of

NEWER = (
    *(("a100_sxm_80gb", "h100_sxm"), ("h100_sxm", "h200_sxm"), ("h200_sxm", "b200_sxm")),
    *(("b200_sxm", "b300_sxm"), ("b200_sxm", "gb200"), ("gb200", "gb300")),
    ("l40s", "rtx_pro_6000"),
)
"""A GPU and one that is no slower by any figure of its datasheet."""
GPUS = tuple(dict.fromkeys(gpu for pair in NEWER for gpu in pair))
ENGINES = ("sglang", "trtllm", "vllm")
BITS = (("bf16", "fp8"), ("bf16", "int4"), ("fp8", "nvfp4"))
"""A format and one with fewer bits."""
CONTEXT = 4096.0
Load = tuple[int, int]
"""Decoding sequences, or else tokens of a prompt."""
DECODING: tuple[Load, ...] = ((1, 0), (8, 0), (64, 0))
LOADS: tuple[Load, ...] = (*DECODING, (256, 0), (0, 2048))
SIGMAS = 2.0
"""Mean errors, on each side. Those of a fit are spread about as exponentially: one in seven is
beyond two means, and that of a whole group of kernels hardly ever is, on both sides at once."""
LARGE = 0.2
"""Share of the kernels' time from which a group of them is compared."""
TINY_S = 10e-6
"""What a kernel may take longer in any case: fixed times of kernels differ by that."""


class Place(NamedTuple):
    """One machine of the walk."""

    model: str
    layout: Layout
    gpu: str
    engine: str
    weights: str
    kv: str = "bf16"

    @property
    def cost(self) -> ForwardPass:
        """Its cost model."""
        where = self.model, self.gpu, self.layout
        return machine(*where, weights=self.weights, kv=self.kv, kernels=self.engine)

    @property
    def uniform(self) -> bool:
        """Whether all matrices have the format named, and not each its own, as published."""
        return set(stored_formats(model_of(self.model), self.weights).values()) == {self.weights}

    def __str__(self) -> str:
        tensor, _, expert, _ = self.layout
        facts = f"{self.model} in {self.weights}, KV in {self.kv}, TP {tensor}, EP {expert}"
        return f"{facts}, {self.engine} on {self.gpu}"


@cache
def error_of(place: Place) -> float | None:
    """Return the largest stated error of the kernels it uses; None where one is assumed."""
    cost = place.cost
    used = [part for part in cost.fits_used if "." in part and "network" not in part]
    if any(cost.fitted.origin_of(part) == "assumed" for part in used):
        return None
    return max(cost.fitted.error.get(part) or 0.0 for part in used)


def allowed(quick: Place, slow: Place) -> float | None:
    """Return the ratio that the errors of both fits explain; None where one is assumed."""
    one, other = error_of(quick), error_of(slow)
    if one is None or other is None:
        return None
    return (1.0 + SIGMAS * one) / (1.0 - SIGMAS * other)


class Group(NamedTuple):
    """Kernels of one sort in a pass."""

    calls: int = 0
    seconds: float = 0.0


@cache
def groups_of(place: Place, load: Load) -> Mapping[str, Group]:
    """Return what products, experts and attention take: no host, link or small kernels."""
    cost, (decoding, prompt) = place.cost, load
    made = even_prompt(cost, prompt) if prompt else even_load(cost, decoding, CONTEXT)
    found = dict.fromkeys(("products", "experts", "attention"), Group())
    for part in cost.operations(made, pads=False):
        if part.kind == "kernel" and part.name != "small kernels":
            name = _group(part.name)
            before = found[name]
            found[name] = Group(before.calls + part.count, before.seconds + part.total_s)
    return found


def _group(name: str) -> str:
    if name == "routed experts":
        return "experts"
    attention = name.startswith(("decode", "prefill", "recurrent"))
    return "attention" if attention else "products"


def slower(
    quick: Place, slow: Place, most: float = 1.0, loads: tuple[Load, ...] = LOADS
) -> Iterator[str]:
    """Tell where kernels of `quick` take longer than those of `slow`, times `most`, and errors."""
    slack = allowed(quick, slow)
    if slack is None:
        return
    for load in loads:
        one, others = groups_of(quick, load), groups_of(slow, load)
        total_s = sum(group.seconds for group in one.values())
        for name, (calls, seconds) in one.items():
            other_s = others[name].seconds
            most_s = most * slack * other_s + calls * TINY_S
            if seconds > max(most_s, LARGE * total_s):
                what = f"prompt of {load[1]}" if load[1] else f"{load[0]} sequences"
                yield f"{quick}: {name} {seconds / other_s:.2f} times {slow} ({what})"
