"""Which parser reads which `model_type`; what is not in the table is read as Llama-like."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from sim.model.huggingface import (
    deepseek,
    diffusion,
    gemma,
    gpt_oss,
    granite,
    jamba,
    llama,
    llama4,
    minimax,
    nemotron,
    qwen,
)
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import Stack

Parser = Callable[[Fields], Stack]


def _like_llama(traits: llama.Traits) -> Parser:
    return lambda fields: llama.parse(fields, traits)


PARSERS: Final[Mapping[str, Parser]] = MappingProxyType(
    {
        **{name: _like_llama(traits) for name, traits in llama.TRAITS.items()},
        "deepseek_v2": deepseek.parse,
        "deepseek_v3": deepseek.parse,
        "deepseek_v32": deepseek.parse,
        "kimi_k2": deepseek.parse,
        "glm_moe_dsa": deepseek.parse,
        "glm4_moe_lite": deepseek.parse,
        "minicpm3": deepseek.parse,
        "qwen3_next": qwen.parse,
        "qwen3_5_text": qwen.parse,
        "qwen3_5_moe_text": qwen.parse,
        "gemma2": gemma.parse_gemma2,
        "gemma3_text": gemma.parse_gemma3,
        "gemma4_text": gemma.parse_gemma4,
        "diffusion_gemma_text": gemma.parse_diffusion_gemma,
        "gpt_oss": gpt_oss.parse,
        "llama4_text": llama4.parse,
        "nemotron_h": nemotron.parse_hybrid,
        "nemotron-nas": nemotron.parse_searched,
        "deci": nemotron.parse_searched,
        "jamba": jamba.parse,
        "granitemoehybrid": granite.parse,
        "minimax": minimax.parse,
        "minimax_text_01": minimax.parse,
        "minimax_m1": minimax.parse,
        "llada": diffusion.parse_llada,
        "dream": diffusion.full_sequence("dream"),
        "sdar": diffusion.in_blocks("sdar"),
        "sdar_moe": diffusion.in_blocks("sdar_moe"),
        "llada2_moe": diffusion.in_blocks("llada2_moe"),
        "fast_dllm_qwen": diffusion.in_blocks("fast_dllm_qwen"),
    }
)

TEXT_TYPE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "gemma3": "gemma3_text",
        "gemma4": "gemma4_text",
        "diffusion_gemma": "diffusion_gemma_text",
        "llama4": "llama4_text",
        "qwen3_5": "qwen3_5_text",
        "qwen3_5_moe": "qwen3_5_moe_text",
        "qwen3_vl": "qwen3_vl_text",
        "qwen3_vl_moe": "qwen3_vl_moe_text",
        "qwen2_vl": "qwen2_vl_text",
        "qwen2_5_vl": "qwen2_5_vl_text",
        "glm4v_moe": "glm4v_moe_text",
        "kimi_k25": "deepseek_v3",
        "mistral3": "mistral",
        "llava": "llama",
        "llava_next": "llama",
    }
)
"""Model type of the language model inside, where a multimodal configuration leaves it out."""


def parse(fields: Fields, model_type: str | None) -> Stack:
    """Return the stack that the parser of `model_type` reads from `fields`."""
    known = (model_type or "").lower()
    parser = PARSERS.get(known) or PARSERS.get(TEXT_TYPE.get(known, ""))
    if parser is not None:
        return parser(fields)
    if known == "deepseek_v4" and fields.has("compress_ratios"):
        fields.refuse("compress_ratios", "is not understood yet: attention over compressed tokens")
    for key in ("encoder_layers", "encoder_ffn_dim", "d_model", "n_embd"):
        if fields.has(key):
            fields.refuse(key, f"is not understood (model type {model_type!r})")
    result = llama.parse(fields, llama.PLAIN)
    named = f"`model_type` {model_type!r} is not known" if model_type else "no `model_type`"
    return replace(result, note=f"read as Llama-like: {named}")
