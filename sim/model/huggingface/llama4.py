"""Llama 4: chunked attention in three layers of four, experts in all layers or every second."""

from dataclasses import replace

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import (
    Stack,
    attention,
    checked_layers,
    dense_mlp,
    head_dim,
    stack,
)


def parse(fields: Fields) -> Stack:
    """Return the stack; the norm of queries and keys has no weights."""
    fields.ignore("use_qk_norm", "attn_temperature_tuning", "attn_scale", "floor_scale")
    fields.ignore("for_llm_compressor")
    hidden, width = fields.count("hidden_size"), fields.count("intermediate_size")
    bias = fields.flag("attention_bias")
    full = attention(fields, width=head_dim(fields, 128), qkv_bias=bias, output_bias=bias)
    chunk = fields.optional("attention_chunk_size") or 8192
    chunked = replace(full, window_tokens=chunk, chunked=True)
    moe = experts(fields, width=width)
    # One shared expert, as wide as a routed one, in every layer that routes.
    moe = replace(moe, shared_intermediate_size=width)
    dense = dense_mlp(fields, fields.count("intermediate_size_mlp", default=2 * width))
    layers = [
        Layer(chunked if is_chunked else full, moe if routes else dense, 2 * hidden)
        for is_chunked, routes in zip(_chunked(fields), _routed(fields), strict=True)
    ]
    return stack(fields, layers, context_tokens=131_072)


def _chunked(fields: Fields) -> tuple[bool, ...]:
    """Layers without rotary positions see everything: every fourth, or as a list says."""
    layers = fields.count("num_hidden_layers")
    kinds = fields.items("layer_types")
    if kinds:
        return tuple(kind == "chunked_attention" for kind in checked_layers(fields, kinds))
    rotary = fields.items("no_rope_layers")
    if rotary:
        return tuple(bool(entry) for entry in checked_layers(fields, rotary, "no_rope_layers"))
    interval = fields.optional("no_rope_layer_interval") or 4
    return tuple((index + 1) % interval != 0 for index in range(layers))


def _routed(fields: Fields) -> tuple[bool, ...]:
    layers = fields.count("num_hidden_layers")
    step = fields.optional("interleave_moe_layer_step") or 1
    given = fields.items("moe_layers")
    if given:
        return tuple(index in given for index in range(layers))
    return tuple((index + 1) % step == 0 for index in range(layers))
