"""What most families share: attention, window patterns, MLPs, and the stack that comes out."""

from collections.abc import Sequence
from dataclasses import dataclass

from sim.model.architecture import Layer
from sim.model.huggingface.fields import Fields
from sim.model.mixers import GroupedQuery
from sim.model.mlps import DenseMlp


@dataclass(frozen=True, slots=True)
class Stack:
    """The language model that a configuration describes, layer by layer."""

    hidden_size: int
    vocab_size: int
    tied_embeddings: bool
    layers: tuple[Layer, ...]
    max_context_tokens: int
    final_norm_elements: int
    mtp_parameters: int = 0
    other_elements: int = 0
    head_bias_elements: int = 0
    causal: bool = True
    decoding: tuple[str, ...] = ("autoregressive",)
    note: str = ""
    """Added to the source, where something was taken for granted."""


def stack(
    fields: Fields,
    layers: Sequence[Layer],
    *,
    tied: bool = False,
    context_tokens: int | None = None,
    mtp: int = 0,
) -> Stack:
    """Return the stack with what stands around the layers, read from the usual fields.

    `tied` and `context_tokens` are what the family's class takes where the field is absent.
    """
    hidden = fields.count("hidden_size")
    bias = fields.count("vocab_size") if fields.flag("lm_head_bias") else 0
    return Stack(
        hidden_size=hidden,
        vocab_size=fields.count("vocab_size"),
        tied_embeddings=fields.flag("tie_word_embeddings", default=tied),
        layers=tuple(layers),
        max_context_tokens=fields.count(
            "max_position_embeddings", "max_sequence_length", "n_positions", default=context_tokens
        ),
        final_norm_elements=hidden,
        mtp_parameters=mtp,
        head_bias_elements=bias,
    )


def head_dim(fields: Fields, default: int | None = None) -> int:
    """Return the width of a head: given, else the family's default, else hidden size / heads."""
    given = fields.optional("head_dim", "attention_head_dim", "kv_channels") or default
    if given:
        return given
    hidden, heads = fields.count("hidden_size"), fields.count("num_attention_heads")
    if hidden % heads:
        fields.refuse("head_dim", f"is missing, and {hidden} is not a multiple of {heads} heads")
    return hidden // heads


def attention(
    fields: Fields,
    *,
    width: int,
    kv_heads: int | None = None,
    qkv_bias: bool = False,
    output_bias: bool = False,
    qk_norm: str = "none",
    window_tokens: int | None = None,
) -> GroupedQuery:
    """Return grouped-query attention; `qk_norm` is none, head (one width) or full (all heads)."""
    hidden, heads = fields.count("hidden_size"), fields.count("num_attention_heads")
    kv_heads = kv_heads or fields.optional("num_key_value_heads") or heads
    if heads % kv_heads:
        fields.refuse("num_key_value_heads", f"{kv_heads} does not divide the {heads} query heads")
    norms = {"none": 0, "head": 2 * width, "full": (heads + kv_heads) * width}
    bias = (heads + 2 * kv_heads) * width if qkv_bias else 0
    return GroupedQuery(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=width,
        value_dim=width,
        window_tokens=window_tokens,
        qk_norm_elements=norms[qk_norm],
        bias_elements=bias + (hidden if output_bias else 0),
    )


def dense_mlp(fields: Fields, width: int, *, gated: bool = True, bias: bool = False) -> DenseMlp:
    """Return a dense MLP with the biases of its two or three matrices."""
    up = (2 if gated else 1) * width
    return DenseMlp(width, gated, up + fields.count("hidden_size") if bias else 0)


_FULL = {"full_attention", "full", "global_attention", "attention", "global"}
_SLIDING = {"sliding_attention", "sliding_window", "local_attention", "sliding", "local"}


def windows(
    fields: Fields, *, pattern: int | None = None, default: int | None = None
) -> tuple[int | None, ...]:
    """Return the sliding window of each layer; None where a layer sees everything.

    `layer_types` says it outright; else every `pattern`-th layer (from the class, or from
    `sliding_window_pattern`) is full and the others slide; without a pattern all slide.
    """
    layers = fields.count("num_hidden_layers")
    window = fields.optional("sliding_window", "sliding_window_size") or default
    given = fields.items("layer_types")
    pattern = fields.optional("sliding_window_pattern", "_sliding_window_pattern") or pattern
    switched_off = fields.content.get("use_sliding_window") is False
    fields.ignore("use_sliding_window")
    if given is not None:
        return tuple(_window(fields, kind, window) for kind in checked_layers(fields, given))
    if window is None or switched_off:
        return (None,) * layers
    if pattern is None:
        return tuple(window if index >= _first_window(fields) else None for index in range(layers))
    return tuple(None if (index + 1) % pattern == 0 else window for index in range(layers))


def _first_window(fields: Fields) -> int:
    """Qwen2 and Qwen3 slide from layer `max_window_layers` on, where the window is switched on."""
    if not fields.flag("use_sliding_window"):
        return 0
    return fields.amount("max_window_layers") or 0


def _window(fields: Fields, kind: object, window: int | None) -> int | None:
    if kind in _FULL:
        return None
    if kind in _SLIDING:
        if window is None:
            fields.refuse("sliding_window", "is missing, but `layer_types` has windowed layers")
        return window
    return fields.refuse("layer_types", f"holds {kind!r}, which is not understood")


def checked_layers(fields: Fields, given: list[object], key: str = "layer_types") -> list[object]:
    """Return a per-layer list, or refuse it where it is not as long as the stack."""
    layers = fields.count("num_hidden_layers")
    if len(given) != layers:
        fields.refuse(key, f"has {len(given)} entries, but there are {layers} layers")
    return given
