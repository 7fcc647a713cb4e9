"""Granite 4 hybrids: Mamba-2 or attention, then a shared MLP with or without experts beside it."""

from dataclasses import replace

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts, has_experts
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import (
    Stack,
    attention,
    checked_layers,
    dense_mlp,
    head_dim,
    stack,
)
from sim.model.mixers import Recurrent
from sim.model.mlps import Mlp
from sim.model.recurrences import mamba2


def parse(fields: Fields) -> Stack:
    """Return the stack; `mamba_expand` and the chunk repeat what the heads say."""
    fields.ignore("mamba_expand", "mamba_chunk_size", "position_embedding_type", "init_method")
    fields.ignore("normalization_function", "intermediate_size", "num_experts_per_tok")
    bias = fields.flag("attention_bias")
    attends = attention(fields, width=head_dim(fields), qkv_bias=bias, output_bias=bias)
    state, mlp, norms = _mamba(fields), _mlp(fields), 2 * fields.count("hidden_size")
    given = fields.items("layer_types", "layers_block_type")
    if given is None:
        fields.refuse("layer_types", "is missing")
    kinds = checked_layers(fields, given)
    odd = set(map(str, kinds)) - {"mamba", "attention"}
    if odd:
        fields.refuse("layer_types", f"holds {min(odd)!r}, which is not understood")
    layers = [Layer(state if kind == "mamba" else attends, mlp, norms) for kind in kinds]
    return stack(fields, layers)


def _mlp(fields: Fields) -> Mlp:
    width = fields.count("shared_intermediate_size")
    if not has_experts(fields):
        return dense_mlp(fields, width)
    moe = experts(fields, width=fields.count("intermediate_size"))
    return replace(moe, shared_intermediate_size=width)


def _mamba(fields: Fields) -> Recurrent:
    heads = fields.count("mamba_n_heads")
    inner = fields.count("mamba_expand", default=2) * fields.count("hidden_size")
    width = fields.content.get("mamba_d_head")
    if width == "auto":
        fields.ignore("mamba_d_head")
    return mamba2(
        fields.count("hidden_size"),
        heads=heads,
        head_dim=inner // heads if width == "auto" else fields.count("mamba_d_head"),
        groups=fields.count("mamba_n_groups", default=1),
        state_size=fields.count("mamba_d_state"),
        conv_kernel=fields.count("mamba_d_conv", default=4),
        conv_bias=fields.flag("mamba_conv_bias", default=True),
        projection_bias=fields.flag("mamba_proj_bias"),
    )
