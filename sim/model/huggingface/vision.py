"""Encoders of images: they are resident in memory, but no part of a text token's pass.

Each function counts tower and projector from `vision_config` (and the width of the language
model), as the modelling class of Hugging Face transformers builds them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from sim.model.huggingface.fields import Fields

_REMEDY: Final = "take `vision_config` out of a copy of the file to count the language model alone"


def vision_parameters(outer: Fields, model_type: str, hidden_size: int) -> int:
    """Return the parameters of tower and projector; 0 where there is no `vision_config`.

    Llama 4's class builds a tower of its defaults where the field is absent.
    """
    tower = outer.nested("vision_config")
    if tower is None and _builds_llama4(outer):
        tower = outer.inside("vision_config", {})
    if tower is None:
        return 0
    kind = tower.text("model_type")
    count = TOWERS.get(kind or "") or TOWERS.get(model_type)
    if count is None:
        outer.refuse("vision_config.model_type", f"{kind!r} is not understood; {_REMEDY}")
    return count(tower, outer, hidden_size)


def _builds_llama4(outer: Fields) -> bool:
    return "Llama4ForConditionalGeneration" in str(outer.content.get("architectures"))


def _linear(inputs: int, outputs: int) -> int:
    """A matrix with its bias."""
    return inputs * outputs + outputs


def _layer(width: int, inner: int) -> int:
    """A ViT layer with biases: q, k, v, o; two MLP matrices; two LayerNorms."""
    return 4 * _linear(width, width) + _linear(width, inner) + _linear(inner, width) + 4 * width


def _qwen3_vl(tower: Fields, outer: Fields, hidden_size: int) -> int:
    del outer
    width, inner = tower.count("hidden_size"), tower.count("intermediate_size")
    patch = tower.count("patch_size", default=16)
    volume = patch * patch * tower.count("temporal_patch_size", default=2)
    square = tower.count("spatial_merge_size", default=2) ** 2 * width
    out = tower.optional("out_hidden_size") or hidden_size
    deep = len(tower.items("deepstack_visual_indexes") or ())
    merger = _linear(square, square) + _linear(square, out)
    return (
        _linear(tower.count("in_channels", default=3) * volume, width)
        + tower.count("num_position_embeddings", default=2304) * width
        + tower.count("depth") * _layer(width, inner)
        + (1 + deep) * merger
        + 2 * width  # norm before the main merger; those of the deep ones come after the shuffle
        + deep * 2 * square
    )


def _qwen2_vl(tower: Fields, outer: Fields, hidden_size: int) -> int:
    del outer
    width, depth = tower.count("embed_dim", default=1280), tower.count("depth", default=32)
    inner = int(width * (tower.number("mlp_ratio") or 4))
    return _qwen2_ends(tower, width, hidden_size, norm=2 * width) + depth * _layer(width, inner)


def _qwen2_5_vl(tower: Fields, outer: Fields, hidden_size: int) -> int:
    del outer
    width, depth = tower.count("hidden_size", default=1280), tower.count("depth", default=32)
    inner = tower.count("intermediate_size", default=3420)
    mlp = 2 * _linear(width, inner) + _linear(inner, width)
    layer = 4 * _linear(width, width) + mlp + 2 * width
    return _qwen2_ends(tower, width, hidden_size, norm=width) + depth * layer


def _qwen2_ends(tower: Fields, width: int, hidden_size: int, *, norm: int) -> int:
    """Patches without a bias, and the merger of four patches with its norm."""
    patch = tower.count("patch_size", "spatial_patch_size", default=14)
    volume = patch * patch * tower.count("temporal_patch_size", default=2)
    square = tower.count("spatial_merge_size", default=2) ** 2 * width
    channels = tower.count("in_channels", "in_chans", default=3)
    merger = _linear(square, square) + _linear(square, hidden_size)
    return channels * volume * width + merger + norm


def _siglip(tower: Fields, outer: Fields, hidden_size: int) -> int:
    """Gemma 3: SigLIP, then one matrix and its norm."""
    del outer
    width, inner = tower.count("hidden_size"), tower.count("intermediate_size")
    patch = tower.count("patch_size", default=14)
    patches = (tower.count("image_size", default=224) // patch) ** 2
    if tower.content.get("vision_use_head") is not False:
        tower.refuse("vision_use_head", "should be false: a pooling head is not understood")
    return (
        _linear(tower.count("num_channels", default=3) * patch * patch, width)
        + patches * width
        + tower.count("num_hidden_layers") * _layer(width, inner)
        + 2 * width
        + width * hidden_size
        + width
    )


def _gemma4(tower: Fields, outer: Fields, hidden_size: int) -> int:
    """A gated ViT without biases, two tables of positions, one matrix to the language model."""
    del outer
    width, inner = tower.count("hidden_size"), tower.count("intermediate_size")
    head = tower.count("head_dim", default=64)
    heads = tower.count("num_attention_heads", default=12)
    patch = tower.count("patch_size", default=16)
    layer = 4 * width * heads * head + 3 * width * inner + 4 * width + 2 * head
    positions = 2 * tower.count("position_embedding_size", default=10_240)
    return (
        tower.count("num_hidden_layers") * layer
        + (3 * patch * patch + positions + hidden_size) * width
    )


def _moonvit(tower: Fields, outer: Fields, hidden_size: int) -> int:
    """Kimi K2.5: a ViT, then a merger of neighbouring patches; positions in time are fixed."""
    del outer
    width, inner = tower.count("vt_hidden_size"), tower.count("vt_intermediate_size")
    patch = tower.count("patch_size", default=14)
    rows = tower.count("init_pos_emb_height") * tower.count("init_pos_emb_width")
    kernel = tower.items("merge_kernel_size") or [2, 2]
    square = width
    for side in kernel:
        square *= side if isinstance(side, int) else 2
    return (
        _linear(3 * patch * patch, width)
        + rows * width
        + tower.count("vt_num_hidden_layers") * _layer(width, inner)
        + 2 * width  # last norm of the tower
        + 2 * width  # norm before the merger
        + _linear(square, square)
        + _linear(square, hidden_size)
    )


def _pixtral(tower: Fields, outer: Fields, hidden_size: int) -> int:
    """Mistral Small 3: Pixtral without biases, a merger of patches, two matrices."""
    width, inner = tower.count("hidden_size"), tower.count("intermediate_size")
    patch = tower.count("patch_size", default=16)
    layer = 4 * width * width + 3 * width * inner + 2 * width
    merge = outer.count("spatial_merge_size", default=2) ** 2
    bias = 2 * hidden_size if outer.flag("multimodal_projector_bias") else 0
    projector = width + merge * width * width + width * hidden_size + hidden_size**2 + bias
    channels = tower.count("num_channels", default=3)
    layers = tower.count("num_hidden_layers", default=24)
    return channels * patch * patch * width + width + layers * layer + projector


def _llama4(tower: Fields, outer: Fields, hidden_size: int) -> int:
    del outer
    width = tower.count("hidden_size", default=768)
    inner = tower.count("intermediate_size", default=5632)
    patch, image = tower.count("patch_size", default=14), tower.count("image_size", default=448)
    middle = tower.count("projector_input_dim", default=4096)
    out = tower.count("projector_output_dim", default=4096)
    return (
        tower.count("num_channels", default=3) * patch * patch * width
        + (1 + (image // patch) ** 2 + 1) * width  # class token and positions
        + 4 * width  # norms before and after
        + tower.count("num_hidden_layers", default=34) * _layer(width, inner)
        + inner * middle
        + middle * out
        + tower.count("vision_output_dim", default=7680) * hidden_size
    )


TOWERS: Final[Mapping[str, Callable[[Fields, Fields, int], int]]] = MappingProxyType(
    {
        "qwen2_vl": _qwen2_vl,
        "qwen2_5_vl": _qwen2_5_vl,
        "qwen3_vl": _qwen3_vl,
        "qwen3_vl_moe": _qwen3_vl,
        "qwen3_5": _qwen3_vl,
        "qwen3_5_moe": _qwen3_vl,
        "siglip_vision_model": _siglip,
        "gemma3": _siglip,
        "gemma4_vision": _gemma4,
        "gemma4": _gemma4,
        "diffusion_gemma": _gemma4,
        "kimi_k25": _moonvit,
        "moonvit": _moonvit,
        "pixtral": _pixtral,
        "mistral3": _pixtral,
        "llama4_vision_model": _llama4,
        "llama4": _llama4,
    }
)
