"""Where the parameters of a model are, part by part, and in what format each is stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from sim.model.architecture import Model, mixer_label
from sim.model.mixers import Mixer, Recurrent
from sim.model.mlps import DenseMlp, Experts, Mlp
from sim.model.weight_format import Format, Part, WeightFormat
from sim.precision import bits_per_weight

Where = Literal["layers", "around", "vision", "mtp"]
ZERO_POINT_BITS: Final = 4
"""Of one group of `int4`, where there are zero points."""


@dataclass(frozen=True, slots=True)
class PartCount:
    """Weights of one kind, in all layers of a group or outside the layers."""

    name: str
    what: str
    """The numbers that make it up, in words; may be empty."""
    elements: int
    active_elements: int
    """Those that one token uses."""
    format: Format
    where: Where = "layers"
    layers: int = 0
    """Layers of the group; 0 outside the layers."""
    mixed: bool = False
    """A small share of it is stored in other formats."""


def breakdown(model: Model) -> tuple[PartCount, ...]:
    """Return all weights of a model.

    Without MTP layers they add up to `total_parameters`, and the active ones to
    `active_parameters`.
    """
    return (*_layers(model), *_around(model))


def checkpoint_bytes(model: Model) -> float:
    """Return the size of the published checkpoint without MTP layers, scales included, B."""
    return sum(
        part.elements * stored_bits(model.weights, part.format) / 8
        for part in breakdown(model)
        if part.where != "mtp"
    )


def stored_bits(weights: WeightFormat, number: Format) -> float:
    """Return the bits of one stored weight, its share of scales and zero points included.

    >>> stored_bits(WeightFormat("int4", group_elements=32), "int4")
    4.5
    """
    if number != "int4" or weights.group_elements is None:
        return bits_per_weight(number)
    bits = bits_per_weight(number, weights.group_elements)
    return bits if weights.zero_points else bits - ZERO_POINT_BITS / weights.group_elements


def formats_label(model: Model) -> str:
    """Return the formats of the layers' matrices, that of the most weights first.

    A format is listed from half a hundredth of the weights on.
    """
    weights: dict[Format, int] = {}
    for part in breakdown(model):
        if part.where == "layers" and part.name not in _PLAIN:
            weights[part.format] = weights.get(part.format, 0) + part.elements
    least = sum(weights.values()) / 200
    ranked = sorted(weights, key=lambda number: -weights[number])
    return " + ".join(number for number in ranked if weights[number] >= least)


OTHER: Final = "norms, biases"
"""The last part of every group of layers."""
_PLAIN: Final = ("router", OTHER)
"""Parts of the layers that nobody quantises."""


def _layers(model: Model) -> Iterator[PartCount]:
    for group in model.groups:
        mixer, mlp, hidden = group.layer.mixer, group.layer.mlp, model.hidden_size
        yield from _mixer_parts(mixer, group.count, model)
        yield from _mlp_parts(mlp, group.count, model)
        other = group.layer.norm_elements + (mixer.other_elements if mixer else 0)
        active = other
        if isinstance(mlp, DenseMlp):
            other, active = other + mlp.bias_elements, active + mlp.bias_elements
        elif isinstance(mlp, Experts):
            gate = hidden if mlp.shared_gate else 0
            other += mlp.experts * mlp.bias_elements + gate
            active += mlp.active * mlp.bias_elements + gate
        both = (group.count * other, group.count * active)
        yield PartCount(OTHER, "", *both, "bf16", layers=group.count)


def _mixer_parts(mixer: Mixer | None, count: int, model: Model) -> Iterator[PartCount]:
    if mixer is None:
        return
    what, hidden = mixer_label(mixer), model.hidden_size
    if isinstance(mixer, Recurrent):
        yield _of(model, "recurrent", ("recurrent", what), mixer.matrix_elements(hidden), count)
        return
    out = mixer.output_elements(hidden)
    rest = mixer.matrix_elements(hidden) - out
    if model.weights.of("attention_output") == model.weights.of("attention"):
        yield _of(model, "attention", ("attention", what), rest + out, count)
        return
    yield _of(model, "attention", ("attention", what), rest, count)
    yield _of(model, "attention_output", ("attention output", ""), out, count)


def _mlp_parts(mlp: Mlp | None, count: int, model: Model) -> Iterator[PartCount]:
    hidden = model.hidden_size
    if isinstance(mlp, DenseMlp):
        width = f"width {mlp.intermediate_size:,}"
        yield _of(model, "dense_mlp", ("MLP", width), mlp.matrix_elements(hidden), count)
    elif isinstance(mlp, Experts):
        one, latent = mlp.expert_elements(hidden), mlp.latent_elements(hidden)
        what = f"{mlp.active} of {mlp.experts} of width {mlp.intermediate_size:,}"
        total, active = mlp.experts * one + latent, mlp.active * one + latent
        yield _of(model, "experts", ("routed experts", what), total, count, active=active)
        if mlp.shared_intermediate_size:
            width = f"width {mlp.shared_intermediate_size:,}"
            shared = mlp.shared_elements(hidden)
            yield _of(model, "shared_experts", ("shared experts", width), shared, count)
        router = count * mlp.router_elements
        yield PartCount("router", "", router, router, "bf16", layers=count)


def _of(
    model: Model,
    part: Part,
    named: tuple[str, str],
    each: int,
    count: int,
    *,
    active: int | None = None,
) -> PartCount:
    return PartCount(
        *named,
        elements=count * each,
        active_elements=count * (each if active is None else active),
        format=model.weights.of(part),
        layers=count,
        mixed=part in model.weights.mixed,
    )


def _around(model: Model) -> Iterator[PartCount]:
    def around(name: str, what: str, elements: int, number: Format, where: Where) -> PartCount:
        return PartCount(name, what, elements, elements, number, where)

    rows = f"{model.vocab_size:,} × {model.hidden_size:,}"
    embeddings = "embeddings and head" if model.tied_embeddings else "embeddings"
    yield around(embeddings, rows, model.embedding_elements, model.weights.embeddings, "around")
    if not model.tied_embeddings:
        yield around("LM head", rows, model.head_elements, model.weights.head, "around")
    other = model.final_norm_elements + model.other_elements + model.head_bias_elements
    if other:
        yield around("last norm, other", "", other, "bf16", "around")
    if model.vision_parameters:
        yield around("vision encoder", "", model.vision_parameters, "bf16", "vision")
    if model.mtp_parameters:
        yield PartCount("MTP layers", "", model.mtp_parameters, 0, model.weights.layers, "mtp")
