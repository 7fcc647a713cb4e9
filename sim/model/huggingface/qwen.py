"""Qwen3-Next and Qwen3.5: three layers of gated DeltaNet, then one of gated attention."""

from dataclasses import replace

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts, has_experts, routed_layers
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import (
    Stack,
    attention,
    checked_layers,
    dense_mlp,
    head_dim,
    stack,
)
from sim.model.mixers import GroupedQuery, Recurrent
from sim.model.recurrences import gated_delta


def parse(fields: Fields) -> Stack:
    """Return the stack of a hybrid Qwen."""
    full, linear = _attention(fields), _linear(fields)
    norms = 2 * fields.count("hidden_size")
    routed = (
        routed_layers(fields)
        if has_experts(fields)
        else (False,) * fields.count("num_hidden_layers")
    )
    moe = experts(fields, shared_gate=True) if any(routed) else None
    dense = None if all(routed) else dense_mlp(fields, fields.count("intermediate_size"))
    fields.ignore("intermediate_size")
    layers = [
        Layer(full if is_full else linear, moe if sparse else dense, norms)
        for is_full, sparse in zip(_full_layers(fields), routed, strict=True)
    ]
    last = Layer(full, moe or dense, norms)
    return stack(fields, layers, mtp=_mtp(fields, last))


def _attention(fields: Fields) -> GroupedQuery:
    """Qwen3-Next gates the output of attention always; Qwen3.5 says so in a field."""
    gate = fields.flag("attn_output_gate", default=True)
    bias = fields.flag("attention_bias")
    width = head_dim(fields, 256)
    mixer = attention(fields, width=width, qkv_bias=bias, output_bias=bias, qk_norm="head")
    return replace(mixer, output_gate=gate)


def _linear(fields: Fields) -> Recurrent:
    return gated_delta(
        fields.count("hidden_size"),
        key_heads=fields.count("linear_num_key_heads", default=16),
        value_heads=fields.count("linear_num_value_heads", default=32),
        key_dim=fields.count("linear_key_head_dim", default=128),
        value_dim=fields.count("linear_value_head_dim", default=128),
        conv_kernel=fields.count("linear_conv_kernel_dim", default=4),
    )


def _full_layers(fields: Fields) -> tuple[bool, ...]:
    interval = fields.optional("full_attention_interval") or 4
    given = fields.items("layer_types")
    if given is None:
        layers = fields.count("num_hidden_layers")
        return tuple((index + 1) % interval == 0 for index in range(layers))
    odd = set(map(str, given)) - {"full_attention", "linear_attention"}
    if odd:
        fields.refuse("layer_types", f"holds {min(odd)!r}, which is not understood")
    return tuple(kind == "full_attention" for kind in checked_layers(fields, given))


def _mtp(fields: Fields, layer: Layer) -> int:
    """A full-attention layer, a projection of two hidden states to one, and three norms."""
    hidden = fields.count("hidden_size")
    modules = fields.amount("mtp_num_hidden_layers") or 0
    fields.ignore("mtp_use_dedicated_embeddings")
    if not modules:
        return 0
    return modules * layer.total_elements(hidden) + 2 * hidden * hidden + 3 * hidden
