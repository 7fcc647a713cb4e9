"""Llama and what is built like it: grouped-query attention, then a dense MLP or experts."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from sim.model.architecture import Layer
from sim.model.huggingface.expert_fields import experts, has_experts, routed_layers
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import (
    Stack,
    attention,
    dense_mlp,
    head_dim,
    stack,
    windows,
)
from sim.model.mixers import GroupedQuery
from sim.model.mlps import Mlp

QkNorm = Literal["none", "head", "full"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What a family's class takes for granted and its configuration does not say.

    Sources are the configuration and modelling classes of Hugging Face transformers 4.57 and 5,
    or the modelling file in the model's own repository.
    """

    qk_norm: QkNorm = "none"
    norms: int = 2
    """Norms of the hidden size per layer."""
    norm_bias: bool = False
    """The norms are LayerNorms with a bias."""
    qkv_bias: bool = False
    """Default of the bias of q, k and v."""
    output_bias: bool | None = None
    """Bias of the output projection; None: where q, k and v have one."""
    gated: bool = True
    mlp_bias: bool = False
    tied: bool = False
    head_dim: int | None = None
    kv_heads: int | None = None
    window: int | None = None
    """Default of `sliding_window`."""
    window_pattern: int | None = None
    """Every so-many-th layer is full, the others slide."""
    context_tokens: int | None = None
    shared_gate: bool = False
    mtp_norms: int = 3
    """Norms of a multi-token-prediction layer beside those of its decoder layer."""


PLAIN: Final = Traits()
_QWEN2: Final = Traits(qkv_bias=True, output_bias=False, context_tokens=32_768)
_QWEN3: Final = Traits(qk_norm="head", head_dim=128, context_tokens=32_768)

TRAITS: Final[Mapping[str, Traits]] = MappingProxyType(
    {
        "llama": Traits(context_tokens=2048),
        "mistral": Traits(kv_heads=8, window=4096, context_tokens=131_072),
        "ministral": PLAIN,
        "ministral3": PLAIN,
        "qwen2": _QWEN2,
        "qwen2_vl_text": _QWEN2,
        "qwen2_5_vl_text": _QWEN2,
        "qwen2_moe": Traits(qkv_bias=True, output_bias=False, shared_gate=True),
        "qwen3": _QWEN3,
        "qwen3_vl_text": _QWEN3,
        "qwen3_moe": Traits(qk_norm="head"),
        "qwen3_vl_moe_text": Traits(qk_norm="head"),
        "mixtral": Traits(kv_heads=8),
        "gemma": Traits(tied=True, head_dim=256, context_tokens=8192),
        "phi3": Traits(),
        "phimoe": Traits(norm_bias=True),
        "olmo2": Traits(qk_norm="full"),
        "olmo3": Traits(qk_norm="full", window=4096, window_pattern=4),
        "olmoe": Traits(qk_norm="full"),
        "smollm3": Traits(tied=True),
        "granite": PLAIN,
        "granitemoe": PLAIN,
        "starcoder2": Traits(
            norm_bias=True, qkv_bias=True, gated=False, mlp_bias=True, tied=True, window=4096
        ),
        "phi": Traits(norms=1, norm_bias=True, qkv_bias=True, gated=False, mlp_bias=True),
        "stablelm": Traits(norm_bias=True),
        "nemotron": Traits(norm_bias=True, gated=False),
        "arcee": Traits(gated=False),
        "apertus": Traits(qk_norm="head", gated=False),
        "cohere": Traits(norms=1, tied=True),
        "cohere2": Traits(norms=1, tied=True, window=4096, window_pattern=4),
        "glm": Traits(output_bias=False, head_dim=128),
        "glm4": Traits(norms=4, output_bias=False, head_dim=128),
        "glm4_moe": Traits(output_bias=False),
        "glm4v_moe_text": Traits(output_bias=False),
        "seed_oss": Traits(qkv_bias=True, output_bias=False, head_dim=128),
        "exaone4": Traits(qk_norm="head"),
        "ernie4_5": Traits(tied=True),
        "ernie4_5_moe": Traits(tied=True),
        "hunyuan_v1_dense": Traits(qk_norm="head", tied=True),
        "mimo": Traits(qkv_bias=True, output_bias=False),
        "dots1": Traits(qk_norm="head"),
        "minimax_m2": Traits(qk_norm="full"),
        "bailing_moe": PLAIN,
        "bailing_moe_v2": Traits(qk_norm="head"),
        "bailing_moe_v2_5": Traits(qk_norm="head"),
        "llada2_moe": Traits(qk_norm="head"),
        "sdar": _QWEN3,
        "sdar_moe": Traits(qk_norm="head"),
        "dream": _QWEN2,
        "fast_dllm_qwen": _QWEN2,
        "llama_diffusion": PLAIN,
    }
)


def parse(fields: Fields, traits: Traits) -> Stack:
    """Return the stack of a Llama-like configuration."""
    mixers = _mixers(fields, traits)
    width = fields.count("hidden_size")
    norms = traits.norms * width * (2 if traits.norm_bias else 1)
    if has_experts(fields):
        routed, moe = routed_layers(fields), _experts(fields, traits)
    else:
        routed, moe = (False,) * len(mixers), None
    dense = _dense(fields, traits) if not all(routed) else None
    fields.ignore("intermediate_size", "mlp_only_layers", "decoder_sparse_step")
    layers = [
        Layer(mixer, moe if sparse else dense, norms)
        for mixer, sparse in zip(mixers, routed, strict=True)
    ]
    return stack(
        fields,
        layers,
        tied=traits.tied,
        context_tokens=traits.context_tokens,
        mtp=mtp_parameters(fields, layers[-1], norms=traits.mtp_norms),
    )


def _mixers(fields: Fields, traits: Traits) -> list[GroupedQuery]:
    width = head_dim(fields, traits.head_dim)
    kv_heads = fields.optional("num_key_value_heads", "num_kv_heads") or traits.kv_heads
    qkv = fields.flag(
        "attention_bias", "qkv_bias", "use_qkv_bias", "use_bias", default=traits.qkv_bias
    )
    output = qkv if traits.output_bias is None else traits.output_bias
    output = fields.flag("attention_out_bias", "attention_output_bias", default=output)
    qk_norm = _qk_norm(fields, traits)
    seen = windows(fields, pattern=traits.window_pattern, default=_default_window(fields, traits))
    return [
        attention(
            fields,
            width=width,
            kv_heads=kv_heads,
            qkv_bias=qkv,
            output_bias=output,
            qk_norm=qk_norm,
            window_tokens=window,
        )
        for window in seen
    ]


def _default_window(fields: Fields, traits: Traits) -> int | None:
    """A null switches the window off; only an absent key means the class's default."""
    return None if "sliding_window" in fields.content else traits.window


def _qk_norm(fields: Fields, traits: Traits) -> QkNorm:
    """A family norms queries and keys or not, unless a field says so."""
    switched = fields.content.get("use_qk_norm", fields.content.get("qk_norm"))
    fields.ignore("use_qk_norm", "qk_norm", "qk_norm_type", "qk_layernorm")
    if switched is None:
        return traits.qk_norm
    if not switched:
        return "none"
    return "full" if traits.qk_norm == "full" else "head"


def _dense(fields: Fields, traits: Traits) -> Mlp:
    bias = fields.flag("mlp_bias", "use_bias", default=traits.mlp_bias)
    return dense_mlp(fields, fields.count("intermediate_size"), gated=traits.gated, bias=bias)


def _experts(fields: Fields, traits: Traits) -> Mlp:
    return experts(fields, shared_gate=traits.shared_gate)


def mtp_parameters(fields: Fields, layer: Layer, *, norms: int = 3) -> int:
    """Return the weights of the layers that predict further tokens (DeepSeek-V3, section 2.2).

    Each is a decoder layer, a projection of two hidden states to one, and norms; embeddings and
    head are shared with the model.
    """
    hidden = fields.count("hidden_size")
    modules = fields.amount("num_nextn_predict_layers", "num_mtp_modules", "mtp_num_layers") or 0
    per_module = fields.amount("mtp_transformer_layers") or 1
    fields.ignore("use_mtp")
    one = per_module * layer.total_elements(hidden) + 2 * hidden * hidden + norms * hidden
    return modules * one
