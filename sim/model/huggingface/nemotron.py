"""Nemotron: hybrids of Mamba-2, attention and experts; and stacks found by architecture search."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

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
from sim.model.mixers import GroupedQuery, Recurrent
from sim.model.mlps import DenseMlp, Experts
from sim.model.recurrences import mamba2

_LETTERS = {"M": "mamba", "*": "attention", "-": "mlp", "E": "moe"}


def parse_hybrid(fields: Fields) -> Stack:
    """Return the stack of a Nemotron-H: each layer is one norm and one block."""
    fields.ignore("chunk_size", "expand", "intermediate_size", "sliding_window", "mamba_expand")
    hidden = fields.count("hidden_size")
    builders: dict[str, Callable[[], Layer]] = {
        "mamba": lambda: Layer(_mamba(fields), None, hidden),
        "attention": lambda: Layer(_attention(fields), None, hidden),
        "mlp": lambda: Layer(None, _mlp(fields), hidden),
        "moe": lambda: Layer(None, _moe(fields), hidden),
    }
    kinds = _kinds(fields)
    built = {kind: builders[kind]() for kind in builders if kind in kinds}
    _ignore_absent(fields, kinds)
    layers = [built[kind] for kind in kinds]
    return stack(fields, layers, mtp=_mtp(fields, built))


def _kinds(fields: Fields) -> list[str]:
    """The pattern is text of one letter a layer, or a list of words."""
    given = fields.items("layers_block_type")
    pattern = fields.text("hybrid_override_pattern")
    if given is None and pattern is not None:
        given = [_LETTERS.get(letter, letter) for letter in pattern]
        fields = fields.filled({"num_hidden_layers": len(given)})
    if given is None:
        fields.refuse("hybrid_override_pattern", "is missing")
    kinds = [str(kind) for kind in checked_layers(fields, given, "hybrid_override_pattern")]
    odd = set(kinds) - set(_LETTERS.values())
    if odd:
        fields.refuse("hybrid_override_pattern", f"holds {min(odd)!r}: not understood")
    return kinds


def _mamba(fields: Fields) -> Recurrent:
    return mamba2(
        fields.count("hidden_size"),
        heads=fields.count("mamba_num_heads"),
        head_dim=fields.count("mamba_head_dim"),
        groups=fields.count("n_groups"),
        state_size=fields.count("ssm_state_size"),
        conv_kernel=fields.count("conv_kernel", default=4),
        conv_bias=fields.flag("use_conv_bias", default=True),
        projection_bias=fields.flag("mamba_proj_bias", "use_bias"),
    )


def _attention(fields: Fields) -> GroupedQuery:
    bias = fields.flag("attention_bias")
    return attention(fields, width=head_dim(fields), qkv_bias=bias, output_bias=bias)


def _mlp(fields: Fields) -> DenseMlp:
    """Squared ReLU: two matrices."""
    width, bias = fields.count("intermediate_size"), fields.flag("mlp_bias")
    return dense_mlp(fields, width, gated=False, bias=bias)


def _moe(fields: Fields) -> Experts:
    """Routed experts may work at a latent width (Nemotron 3 Super); shared ones do not."""
    moe = experts(fields, gated=False)
    latent = fields.optional("moe_latent_size")
    return replace(moe, latent_size=latent)


_OF_KIND: Final = {
    "mamba": ("mamba_num_heads", "mamba_head_dim", "n_groups", "ssm_state_size", "conv_kernel",
              "use_conv_bias", "mamba_proj_bias", "use_bias"),
    "attention": ("num_attention_heads", "num_key_value_heads", "head_dim", "attention_bias",
                  "attention_head_dim"),
    "mlp": ("intermediate_size", "mlp_bias"),
    "moe": ("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size",
            "n_shared_experts", "moe_shared_expert_intermediate_size", "moe_latent_size"),
}  # fmt: skip


def _ignore_absent(fields: Fields, kinds: list[str]) -> None:
    """Sizes of blocks that the pattern does not hold mean nothing."""
    for kind, keys in _OF_KIND.items():
        if kind not in kinds:
            fields.ignore(*keys)


def _mtp(fields: Fields, built: dict[str, Layer]) -> int:
    """A module holds the blocks of its own pattern; without one, an attention and a MoE block."""
    modules = fields.amount("num_nextn_predict_layers") or 0
    pattern = fields.text("mtp_hybrid_override_pattern") or "*E"
    if not modules:
        return 0
    hidden = fields.count("hidden_size")
    odd = [letter for letter in pattern if _LETTERS.get(letter, "") not in built]
    if odd:
        fields.refuse("mtp_hybrid_override_pattern", f"holds {odd[0]!r}, which is not understood")
    blocks = sum(built[_LETTERS[letter]].total_elements(hidden) for letter in pattern)
    return modules * (blocks + 2 * hidden * hidden + 3 * hidden)


def parse_searched(fields: Fields) -> Stack:
    """Return the stack of a Nemotron NAS (DeciLM): each layer has shapes of its own.

    A layer without attention, or without MLP, has no norm for it either.
    """
    fields.ignore("num_key_value_heads", "intermediate_size", "mlp_bias", "attention_bias")
    blocks = fields.items("block_configs")
    if blocks is None:
        fields.refuse("block_configs", "is missing")
    layers = [
        _searched_layer(fields, fields.inside(f"block_configs.{index}", block))
        for index, block in enumerate(checked_layers(fields, blocks, "block_configs"))
    ]
    return stack(fields, layers)


def _searched_layer(fields: Fields, block: Fields) -> Layer:
    hidden = fields.count("hidden_size")
    mixer = _searched_attention(fields, _part(block, "attention"))
    mlp = _searched_mlp(fields, _part(block, "ffn"))
    block.refuse_rest(_REMEDY)
    return Layer(mixer, mlp, hidden * ((mixer is not None) + (mlp is not None)))


def _part(block: Fields, key: str) -> Fields:
    part = block.nested(key)
    if part is None:
        block.refuse(key, "is missing")
    for odd in ("replace_with_linear", "sparsify"):
        if part.content.get(odd):
            part.refuse(odd, "is not understood")
    return part


def _searched_attention(fields: Fields, part: Fields) -> GroupedQuery | None:
    if part.flag("no_op"):
        return None
    if part.flag("unshifted_sink") or part.optional("num_sink_tokens"):
        part.refuse("num_sink_tokens", "is not understood")
    heads, share = fields.count("num_attention_heads"), part.count("n_heads_in_group")
    part.ignore("use_prefill_window_in_sink_attention")
    window = part.optional("window_length")
    part.refuse_rest(_REMEDY)
    return attention(fields, width=head_dim(fields), kv_heads=heads // share, window_tokens=window)


def _searched_mlp(fields: Fields, part: Fields) -> DenseMlp | None:
    """The width is 2/3 of `ffn_mult` times the hidden size, rounded up to 256."""
    if part.flag("no_op"):
        return None
    width = part.optional("intermediate_size")
    factor = part.number("ffn_mult")
    if width is None and factor is None:
        part.refuse("ffn_mult", "is missing")
    part.ignore("hidden_act")
    part.refuse_rest(_REMEDY)
    if width is None and factor is not None:
        width = -(-int(2 * factor * fields.count("hidden_size") / 3) // 256) * 256
    return dense_mlp(fields, width or 0)


_REMEDY: Final = "only grouped attention and gated MLPs are understood in a block"
