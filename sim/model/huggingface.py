"""A Hugging Face `config.json` -> counted facts, for dense Llama- and Qwen3-like architectures.

Counting something that is not understood would give a wrong number that looks right. So every
field is either used, or known not to change any count, or refused by name.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sim.errors import InputError
from sim.model.architecture import Model
from sim.model.facts import ModelFacts
from sim.yaml_files import read_json, validate

_QK_NORM: Final = {
    "LlamaForCausalLM": False,
    "MistralForCausalLM": False,
    "Qwen3ForCausalLM": True,
}
"""Architectures whose layer is counted by `Model`, and whether queries and keys are normalised."""

_USED: Final = frozenset(
    {
        "architectures",
        "head_dim",
        "hidden_size",
        "intermediate_size",
        "max_position_embeddings",
        "model_type",
        "num_attention_heads",
        "num_hidden_layers",
        "num_key_value_heads",
        "quantization_config",
        "tie_word_embeddings",
        "vocab_size",
    }
)
_HARMLESS: Final = frozenset(
    {
        "_name_or_path",
        "attention_dropout",
        "auto_map",
        "bos_token_id",
        "dtype",
        "eos_token_id",
        "hidden_act",
        "initializer_range",
        "max_window_layers",
        "pad_token_id",
        "pretraining_tp",
        "rms_norm_eps",
        "rope_parameters",
        "rope_scaling",
        "rope_theta",
        "torch_dtype",
        "transformers_version",
        "unsloth_fixed",
        "use_cache",
    }
)
"""Fields that change no count: tokens, precision of the arithmetic, positions, housekeeping."""

_SIDE_FILE: Final = "hf_quant_config.json"


def load_config(path: Path) -> Model:
    """Return the model that a `config.json` (or the folder that holds it) describes.

    Raises `InputError` naming the field, where one is missing or not understood.
    """
    file = path / "config.json" if path.is_dir() else path
    config = read_json(file)
    where = str(file)
    qk_norm = _qk_norm(config, where)
    _refuse_unknown(config, where)
    heads = _count(config, "num_attention_heads", where)
    hidden = _count(config, "hidden_size", where)
    facts: dict[str, object] = {
        "name": _name(file),
        "source": f"Hugging Face configuration {file.name}",
        "layers": _count(config, "num_hidden_layers", where),
        "hidden_size": hidden,
        "heads": heads,
        "kv_heads": _optional_count(config, "num_key_value_heads", where) or heads,
        "head_dim": _optional_count(config, "head_dim", where) or _default_head_dim(config, where),
        "intermediate_size": _count(config, "intermediate_size", where),
        "vocab_size": _count(config, "vocab_size", where),
        "tied_embeddings": config.get("tie_word_embeddings") or False,
        "qk_norm": qk_norm,
        "max_context_tokens": _count(config, "max_position_embeddings", where),
        "weights": _checkpoint_precision(config, file),
    }
    return validate(ModelFacts, facts, where).to_model()


def _qk_norm(config: Mapping[str, object], where: str) -> bool:
    given = config.get("architectures")
    if given is None:
        raise InputError("`architectures` is missing", where=where)
    names = given if isinstance(given, list) else [given]
    if len(names) != 1 or names[0] not in _QK_NORM:
        known = ", ".join(_QK_NORM)
        raise InputError(
            f"`architectures` {given} is not understood yet",
            where=where,
            remedy=f"understood: {known}",
        )
    return _QK_NORM[names[0]]


def _refuse_unknown(config: Mapping[str, object], where: str) -> None:
    odd = [key for key, value in config.items() if not _inert(config, key, value)]
    if odd:
        fields = ", ".join(f"`{key}`" for key in odd)
        problem = f"{fields} not understood: it could change what a token costs"
        raise InputError(
            problem, where=where, remedy="dense Llama and Qwen3 layers are counted so far"
        )


def _inert(config: Mapping[str, object], key: str, value: object) -> bool:
    if key in _USED or key in _HARMLESS:
        return True
    if key == "layer_types":
        return isinstance(value, list) and set(value) <= {"full_attention"}
    if key == "sliding_window" and config.get("use_sliding_window") is False:
        return True
    # A field that is null, false, zero or empty switches nothing on (`sliding_window: null`).
    return not value


def _count(config: Mapping[str, object], key: str, where: str) -> int:
    value = _optional_count(config, key, where)
    if value is None:
        raise InputError(f"`{key}` is missing", where=where)
    return value


def _optional_count(config: Mapping[str, object], key: str, where: str) -> int | None:
    value = config.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(
            f"`{key}` should be a whole number from 1 on, found {value!r}", where=where
        )
    return value


def _default_head_dim(config: Mapping[str, object], where: str) -> int:
    """Return the width of a head where it is left out; Qwen3's default is 128, not a quotient."""
    if config.get("architectures") == ["Qwen3ForCausalLM"]:
        return 128
    hidden, heads = (
        _count(config, "hidden_size", where),
        _count(config, "num_attention_heads", where),
    )
    if hidden % heads:
        problem = f"`hidden_size` {hidden} is not a multiple of `num_attention_heads` {heads}"
        raise InputError(problem, where=where, remedy="`head_dim` must be given")
    return hidden // heads


def _checkpoint_precision(config: Mapping[str, object], file: Path) -> str:
    """Return the precision of the published weights: bf16 or fp8, else refuse.

    fp16 is as wide as bf16, and engines serve float32 checkpoints in one of the two.
    """
    where = str(file)
    stated = config.get("dtype", config.get("torch_dtype")) or "bfloat16"
    if stated not in {"bfloat16", "float16", "float32"}:
        raise InputError(f"`torch_dtype` {stated!r} is not understood yet", where=where)
    quantised = config.get("quantization_config")
    if quantised:
        method = quantised.get("quant_method") if isinstance(quantised, Mapping) else quantised
        if method != "fp8":
            raise InputError(
                f"`quantization_config.quant_method` {method!r} is not understood yet", where=where
            )
        return "fp8"
    side_file = file.with_name(_SIDE_FILE)
    if side_file.is_file():
        inner = read_json(side_file).get("quantization")
        method = inner.get("quant_algo") if isinstance(inner, Mapping) else inner
        if method != "FP8":
            raise InputError(
                f"`quantization.quant_algo` {method!r} is not understood yet", where=str(side_file)
            )
        return "fp8"
    return "bf16"


def _name(file: Path) -> str:
    if file.name == "config.json":
        return file.resolve().parent.name
    return file.stem.removesuffix("_config")
