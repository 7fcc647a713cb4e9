"""Models trained for diffusion: what their configuration does not say of how they decode."""

from collections.abc import Callable
from dataclasses import replace

from sim.model.huggingface.fields import Fields
from sim.model.huggingface.llama import PLAIN, TRAITS, parse
from sim.model.huggingface.parts import Stack

_OLMO_NAMES = {
    "d_model": "hidden_size",
    "n_heads": "num_attention_heads",
    "n_kv_heads": "num_key_value_heads",
    "n_layers": "num_hidden_layers",
    "mlp_hidden_size": "intermediate_size",
    "max_sequence_length": "max_position_embeddings",
    "weight_tying": "tie_word_embeddings",
    "include_qkv_bias": "attention_bias",
    "include_bias": "mlp_bias",
}
"""LLaDA's configuration descends from OLMo's; ours on the right."""


def parse_llada(fields: Fields) -> Stack:
    """LLaDA: a Llama without a causal mask (arXiv:2502.09992)."""
    for key, expected in (("block_type", "llama"), ("layer_norm_type", "rms")):
        if (fields.text(key) or expected) != expected:
            fields.refuse(key, f"should be {expected}, other kinds are not understood")
    for key in ("attention_layer_norm", "multi_query_attention", "alibi", "input_emb_norm"):
        if fields.flag(key):
            fields.refuse(key, "is not understood")
    fields.ignore("rope", "mlp_ratio", "embedding_size", "layer_norm_with_affine", "precision")
    fields.ignore("activation_type", "bias_for_layer_norm", "scale_logits", "layer_norm_eps")
    fields.ignore("attention_layer_norm_with_affine", "block_group_size", *_OLMO_NAMES)
    renamed = {
        ours: fields.content[theirs]
        for theirs, ours in _OLMO_NAMES.items()
        if fields.content.get(theirs) is not None
    }
    return _diffusing(parse(fields.filled(renamed), PLAIN), "diffusion")


def full_sequence(name: str) -> Callable[[Fields], Stack]:
    """Return the parser of a bidirectional model that denoises whole answers (Dream)."""
    return lambda fields: _diffusing(parse(fields, TRAITS[name]), "diffusion")


def in_blocks(name: str) -> Callable[[Fields], Stack]:
    """Return the parser of a model that denoises block after block (SDAR, LLaDA 2)."""

    def parser(fields: Fields) -> Stack:
        fields.ignore(
            "block_size", "block_length", "bd_size", "mask_id", "norm_head", "use_rmsnorm"
        )
        fields.ignore("debug", "attn_implementation", "diffusion_block_size")
        return _diffusing(parse(fields, TRAITS[name]), "block_diffusion")

    return parser


def _diffusing(stack: Stack, family: str) -> Stack:
    return replace(stack, causal=False, decoding=(family,))
