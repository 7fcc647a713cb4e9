"""The whole file: language model, vision encoder, and the formats of the weights."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from sim.model.architecture import Model
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.formats import weight_format
from sim.model.huggingface.parts import Stack
from sim.model.huggingface.registry import TEXT_TYPE, parse
from sim.model.huggingface.vision import vision_parameters
from sim.model.stack import grouped
from sim.model.weight_format import WeightFormat
from sim.yaml_files import read_json

_TEXT_CONFIGS: Final = ("text_config", "llm_config", "language_config")
_REMEDY: Final = (
    "remove it from a copy of the file if it changes nothing, or write the counts yourself (see"
    " docs/recipes.md)"
)


def load_config(path: Path) -> Model:
    """Return the model that a `config.json` (or the folder that holds it) describes.

    Raises `InputError` naming the field, where one is missing or not understood.
    """
    file = path / "config.json" if path.is_dir() else path
    return from_mapping(read_json(file), file)


def from_mapping(config: Mapping[str, object], file: Path, *, where: str | None = None) -> Model:
    """Return the model of a configuration that was read from `file` (or will stand there).

    `where` is what errors call it; None: the file.
    """
    outer = Fields(config, where or str(file))
    text = outer.nested(*_TEXT_CONFIGS) or outer
    outer_type = outer.text("model_type") or _by_class(outer)
    inner_type = text.text("model_type") or _by_class(text)
    model_type = inner_type or TEXT_TYPE.get(outer_type or "", outer_type)
    if model_type is None and not outer.has("architectures"):
        outer.refuse("model_type", "is missing, and `architectures` too: which family is it?")
    if text is outer:
        _refuse_inner_models(outer)
    result = parse(_with_outer(text, outer), model_type)
    vision = vision_parameters(outer, outer_type or "", result.hidden_size)
    formats = weight_format(outer, text, file, result)
    for fields in {id(text): text, id(outer): outer}.values():
        fields.refuse_rest(_REMEDY)
    return _model(result, name=_name(file), file=file, vision=vision, formats=formats)


def _refuse_inner_models(outer: Fields) -> None:
    """A file that holds several models (speech and text) is refused by the name of the first."""
    if outer.has("num_hidden_layers") or outer.has("n_layers"):
        return
    for key, value in outer.content.items():
        if isinstance(value, Mapping) and ("num_hidden_layers" in value or "text_config" in value):
            outer.refuse(key, "holds a model of its own, which is not understood")


def _with_outer(text: Fields, outer: Fields) -> Fields:
    """What a multimodal file says outside holds inside too, where the inside is silent."""
    if text is outer:
        return text
    outer.ignore("tie_word_embeddings", "hidden_size", "vocab_size")
    shared = ("tie_word_embeddings",)
    return text.filled({key: outer.content[key] for key in shared if outer.has(key)})


_TYPE_OF_CLASS: Final = {
    "LlamaForCausalLM": "llama",
    "MistralForCausalLM": "mistral",
    "Qwen2ForCausalLM": "qwen2",
    "Qwen3ForCausalLM": "qwen3",
    "Qwen3MoeForCausalLM": "qwen3_moe",
    "MixtralForCausalLM": "mixtral",
    "DeepseekV3ForCausalLM": "deepseek_v3",
    "GptOssForCausalLM": "gpt_oss",
    "Gemma2ForCausalLM": "gemma2",
}


def _by_class(fields: Fields) -> str | None:
    """Files without a model type name their class; one of the two must be there."""
    classes = fields.content.get("architectures")
    first = classes[0] if isinstance(classes, list) and classes else classes
    return _TYPE_OF_CLASS.get(first) if isinstance(first, str) else None


def _model(result: Stack, *, name: str, file: Path, vision: int, formats: WeightFormat) -> Model:
    note = f" ({result.note})" if result.note else ""
    return Model(
        name=name,
        hidden_size=result.hidden_size,
        vocab_size=result.vocab_size,
        tied_embeddings=result.tied_embeddings,
        groups=grouped(result.layers),
        max_context_tokens=result.max_context_tokens,
        source=f"Hugging Face configuration {file.name}{note}",
        causal=result.causal,
        decoding=result.decoding,
        weights=formats,
        vision_parameters=vision,
        mtp_parameters=result.mtp_parameters,
        final_norm_elements=result.final_norm_elements,
        other_elements=result.other_elements,
        head_bias_elements=result.head_bias_elements,
    )


def _name(file: Path) -> str:
    if file.name == "config.json":
        return file.resolve().parent.name
    return file.stem.removesuffix("_config")
