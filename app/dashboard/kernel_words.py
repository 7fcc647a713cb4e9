"""The parts of a fitted profile in words: `gemm.fp8_block` is matrix products, FP8 in blocks."""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Final, NamedTuple

UNTIMED: Final = (
    "No timing of these on this GPU stands behind their predictions: they take coefficients that "
    "are the same for all GPUs, shares of the peaks of its datasheet. Only deployments named on "
    "the right use them, and their results say so: *assumed*, under the origins of an answer."
)
_FORMATS: Final = MappingProxyType(
    {
        "bf16": "BF16",
        "fp16": "FP16",
        "fp8": "FP8",
        "fp8_block": "FP8 in blocks",
        "int8": "INT8",
        "int4": "INT4",
        "mxfp4": "MXFP4",
        "nvfp4": "NVFP4",
    }
)
_NETWORK: Final = "network"


class Family(NamedTuple):
    """A kind of kernel, whom it matters to, and what its formats are formats of."""

    words: str
    matters: str
    of: str = ""


_FAMILIES: Final = MappingProxyType(
    {
        "gemm": Family("matrix products", "weights in this format", "weights"),
        "experts": Family(
            "experts of a layer", "mixtures of experts with weights in this format", "weights"
        ),
        "decode_attention": Family(
            "attention of new tokens", "a KV cache in this format", "KV cache"
        ),
        "prefill_attention": Family(
            "attention of prompts", "a KV cache in this format", "KV cache"
        ),
        "latent_attention": Family(
            "latent attention of new tokens",
            "models that compress their keys (DeepSeek, Kimi), with a KV cache in this format",
            "KV cache",
        ),
        "latent_prefill": Family(
            "latent attention of prompts",
            "models that compress their keys (DeepSeek, Kimi), with a KV cache in this format",
            "KV cache",
        ),
        "recurrent": Family(
            "recurrent layers", "models with state-space or linear attention (Qwen3-Next, Mamba)"
        ),
        "all_reduce": Family("sums over GPUs in a node", "tensor parallelism in a node"),
        "all_gather": Family("gathering over GPUs in a node", "attention spread over GPUs"),
        "reduce_scatter": Family("summing and spreading in a node", "attention spread over GPUs"),
        "all_to_all": Family("tokens to experts in a node", "expert parallelism in a node"),
        "point_to_point": Family(
            "from stage to stage in a node", "pipeline parallelism in a node"
        ),
        _NETWORK: Family("traffic between nodes", "a replica that spans nodes"),
    }
)


def kernel_words(part: str) -> str:
    """Return a part in words; one that has none as it stands.

    >>> kernel_words("gemm.fp8_block"), kernel_words("network.all_to_all")
    ('matrix products, FP8 in blocks', 'tokens to experts between nodes')
    """
    family, _, key = part.partition(".")
    known = _FAMILIES.get(family)
    if known is None:
        return part
    if family == _NETWORK and key in _FAMILIES:
        return _FAMILIES[key].words.replace("in a node", "between nodes")
    return f"{known.words}, {_FORMATS.get(key, key)}" if key else known.words


class Untimed(NamedTuple):
    """Kernels of one kind that no timing stands behind."""

    kernels: str
    formats: str
    matters: str


def untimed(parts: Iterable[str]) -> tuple[Untimed, ...]:
    """Return parts by kind, in the order of a pass, with whom they matter to.

    >>> untimed(["gemm.int4", "gemm.int8", "recurrent"])[0]
    Untimed(kernels='matrix products', formats='weights in INT8, INT4', matters='weights in this format')
    """  # noqa: E501  # one line of output
    keys: dict[str, list[str]] = {}
    for part in parts:
        family, _, key = part.partition(".")
        keys.setdefault(family, []).append(key)
    found = []
    for family in sorted(keys, key=kernel_place):
        known = _FAMILIES.get(family, Family(family, ""))
        formats = ", ".join(
            _FORMATS[key] for key in sorted(keys[family], key=_format_place) if key in _FORMATS
        )
        said = f"{known.of} in {formats}" if known.of and formats else formats
        found.append(Untimed(known.words, said, known.matters))
    return tuple(found)


def kernel_place(part: str) -> int:
    """Return where a part or family comes in a pass: products first, traffic last."""
    names, family = list(_FAMILIES), part.partition(".")[0]
    return names.index(family) if family in names else len(names)


def _format_place(key: str) -> int:
    names = list(_FORMATS)
    return names.index(key) if key in names else len(names)
