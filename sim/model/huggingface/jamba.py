"""Jamba: one layer in eight attends, the others are Mamba-1; every second layer routes."""

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts, has_experts
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import Stack, attention, dense_mlp, head_dim, stack
from sim.model.mixers import Recurrent
from sim.model.recurrences import mamba1


def parse(fields: Fields) -> Stack:
    """Return the stack; widths of dense and routed MLPs are the same."""
    fields.ignore("layers_block_type", "layers_num_experts", "calc_logits_for_entire_prompt")
    hidden, layers = fields.count("hidden_size"), fields.count("num_hidden_layers")
    attends = attention(fields, width=head_dim(fields))
    state = _mamba(fields)
    dense = dense_mlp(fields, fields.count("intermediate_size"))
    routes = has_experts(fields) and fields.content.get("num_experts") != 1
    moe = experts(fields) if routes else dense
    fields.ignore("num_experts", "num_experts_per_tok")
    period, offset = fields.count("attn_layer_period", default=8), _offset(fields, "attn", 4)
    every, first = fields.count("expert_layer_period", default=2), _offset(fields, "expert", 1)
    return stack(
        fields,
        [
            Layer(
                attends if index % period == offset else state,
                moe if index % every == first else dense,
                2 * hidden,
            )
            for index in range(layers)
        ],
        context_tokens=262_144,
    )


def _offset(fields: Fields, what: str, default: int) -> int:
    given = fields.amount(f"{what}_layer_offset")
    return default if given is None else given


def _mamba(fields: Fields) -> Recurrent:
    hidden = fields.count("hidden_size")
    rank = fields.content.get("mamba_dt_rank")
    automatic = -(-hidden // 16)
    if rank == "auto":
        fields.ignore("mamba_dt_rank")
    return mamba1(
        hidden,
        inner_size=fields.count("mamba_expand", default=2) * hidden,
        state_size=fields.count("mamba_d_state", default=16),
        dt_rank=automatic if rank == "auto" else fields.count("mamba_dt_rank", default=automatic),
        conv_kernel=fields.count("mamba_d_conv", default=4),
        conv_bias=fields.flag("mamba_conv_bias", default=True),
        projection_bias=fields.flag("mamba_proj_bias"),
        inner_norms=fields.flag("mamba_inner_layernorms", default=True),
    )
