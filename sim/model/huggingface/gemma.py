"""Gemma 2, 3 and 4 and DiffusionGemma: sliding windows between full layers, four norms a layer."""

from dataclasses import replace
from typing import Final

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import Stack, attention, dense_mlp, head_dim, stack, windows
from sim.model.mixers import GroupedQuery
from sim.model.mlps import Mlp

_DEFAULTS: dict[str, object] = {
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
}
"""Gemma configurations leave out what equals the class's default (Gemma2Config, Gemma3TextConfig).
"""


def _with_defaults(fields: Fields, **more: object) -> Fields:
    return fields.filled({**_DEFAULTS, **more})


def parse_gemma2(fields: Fields) -> Stack:
    """Every second layer slides; embeddings are tied where nothing is said."""
    fields = _with_defaults(fields, vocab_size=256_000, sliding_window=4096)
    return _parse(fields, qk_norm="none", pattern=2, context_tokens=8192)


def parse_gemma3(fields: Fields) -> Stack:
    """Five layers slide, the sixth is full; queries and keys are normed."""
    fields = _with_defaults(fields, vocab_size=262_208, sliding_window=4096)
    return _parse(fields, qk_norm="head", pattern=6, context_tokens=131_072)


def _parse(fields: Fields, *, qk_norm: str, pattern: int, context_tokens: int) -> Stack:
    bias = fields.flag("attention_bias")
    width, hidden = head_dim(fields), fields.count("hidden_size")
    mlp = dense_mlp(fields, fields.count("intermediate_size"))
    layers = [
        Layer(
            attention(
                fields,
                width=width,
                qkv_bias=bias,
                output_bias=bias,
                qk_norm=qk_norm,
                window_tokens=window,
            ),
            mlp,
            4 * hidden,
        )
        for window in windows(fields, pattern=pattern)
    ]
    return stack(fields, layers, tied=True, context_tokens=context_tokens)


def parse_gemma4(fields: Fields) -> Stack:
    """Full layers have wider heads, fewer of them, and no value projection of their own.

    With experts, the dense MLP works beside them on every token: it is counted as shared.
    """
    fields = _with_defaults(fields, num_hidden_layers=30, vocab_size=262_144, sliding_window=512)
    if fields.amount("num_kv_shared_layers"):
        fields.refuse("num_kv_shared_layers", _SMALL_ONLY)
    if fields.amount("hidden_size_per_layer_input") or _has_inputs_per_layer(fields):
        fields.refuse("hidden_size_per_layer_input", _SMALL_ONLY)
    fields.ignore("vocab_size_per_layer_input", "use_double_wide_mlp")
    if fields.text("use_bidirectional_attention") not in {None, "vision"}:
        fields.refuse("use_bidirectional_attention", "should be vision: others are not understood")
    hidden = fields.count("hidden_size")
    mlp, norms = _gemma4_mlp(fields, hidden)
    sliding, full = _gemma4_mixers(fields)
    layers = [
        Layer(full if window is None else replace(sliding, window_tokens=window), mlp, norms)
        for window in windows(fields, pattern=6)
    ]
    return stack(fields, layers, tied=True, context_tokens=131_072)


_SMALL_ONLY: Final = "is not understood yet (Gemma 4 E2B and E4B)"


def _has_inputs_per_layer(fields: Fields) -> bool:
    """The class's default is what the small models have; the large ones say 0, or have experts."""
    said = "hidden_size_per_layer_input" in fields.content
    small = fields.text("model_type") == "gemma4_text" and not fields.flag("enable_moe_block")
    return small and not said


def _gemma4_mlp(fields: Fields, hidden: int) -> tuple[Mlp, int]:
    """Return the MLP and the norms: four, and three more where there are experts."""
    width = fields.count("intermediate_size")
    routes = fields.flag("enable_moe_block", default=fields.has("num_experts"))
    fields.ignore("num_experts", "top_k_experts", "moe_intermediate_size")
    if not routes:
        return dense_mlp(fields, width), 4 * hidden
    moe = experts(fields)
    # The router has its own scale of the input, and one per expert.
    router = moe.router_elements + hidden + moe.experts
    moe = replace(moe, shared_intermediate_size=width, router_elements=router)
    return moe, 7 * hidden


def _gemma4_mixers(fields: Fields) -> tuple[GroupedQuery, GroupedQuery]:
    bias = fields.flag("attention_bias")
    sliding = attention(
        fields, width=head_dim(fields), qkv_bias=bias, output_bias=bias, qk_norm="head"
    )
    shared = fields.flag("attention_k_eq_v", default=fields.text("model_type") != "gemma4_text")
    kv_heads = fields.optional("num_global_key_value_heads") if shared else None
    full = attention(
        fields,
        width=fields.optional("global_head_dim") or 512,
        kv_heads=kv_heads,
        qkv_bias=bias,
        output_bias=bias,
        qk_norm="head",
    )
    return sliding, replace(full, value_is_key=shared)


def parse_diffusion_gemma(fields: Fields) -> Stack:
    """DiffusionGemma denoises a canvas with the layers of Gemma 4 26B-A4B, in both directions.

    One more gated MLP with a norm conditions a pass on the guess of the pass before. Full layers
    have no value projection, whatever `attention_k_eq_v` says.
    """
    result = parse_gemma4(fields.without("attention_k_eq_v"))
    hidden, width = result.hidden_size, fields.count("intermediate_size", default=9216)
    return replace(
        result,
        other_elements=3 * hidden * width + hidden,
        causal=False,
        decoding=("block_diffusion",),
    )
