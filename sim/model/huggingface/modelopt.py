"""NVIDIA Model Optimizer: one algorithm for all, or one for each module that it names."""

from collections.abc import Mapping
from typing import Final

from sim.model.huggingface.fields import Fields
from sim.model.huggingface.rules import Rules, names
from sim.model.weight_format import Format

_ALGORITHMS: Final[Mapping[str, tuple[Format, bool]]] = {
    "FP8": ("fp8", False),
    "FP8_PER_CHANNEL_PER_TOKEN": ("fp8", False),
    "FP8_PB_WO": ("fp8_block", False),
    "FP8_BLOCK_SCALES": ("fp8_block", False),
    "FP8_PB_REAL": ("fp8_block", False),
    "NVFP4": ("nvfp4", False),
    "NVFP4_AWQ": ("nvfp4", False),
    "NVFP4_SVDQUANT": ("nvfp4", False),
    "W4A16_NVFP4": ("nvfp4", True),
    "W4A8_NVFP4_FP8": ("nvfp4", False),
    "MXFP4": ("mxfp4", False),
    "W4A8_MXFP4_FP8": ("mxfp4", False),
    "INT4_AWQ": ("int4", True),
    "W4A16_AWQ": ("int4", True),
    "W4A16": ("int4", True),
    "W4A8_AWQ": ("int4", False),
    "INT8_SQ": ("int8", False),
    "W8A8_SQ_PER_CHANNEL": ("int8", False),
    "W8A16": ("int8", True),
}
"""Algorithm -> format of the weights, and whether activations stay in 16 bits."""

_GROUP: Final[Mapping[Format, int]] = {"nvfp4": 16, "mxfp4": 32, "int4": 128}


def modelopt(found: Fields) -> Rules:
    """Return the rules of `quant_algo`, and of each of `quantized_layers` where it is mixed."""
    inner = found.nested("quantization") or found
    algorithm = inner.text("quant_algo")
    skipped = names(inner, "exclude_modules", "ignore")
    kv = _kv(inner)
    if algorithm is None and kv is not None:
        return Rules(None, kv=kv)  # only the KV cache was calibrated
    if algorithm == "MIXED_PRECISION":
        return _mixed(inner, skipped, kv)
    number, weight_only = _known(inner, "quant_algo", algorithm)
    return Rules(
        number,
        skipped=skipped,
        kv=kv,
        group_elements=inner.optional("group_size") or _GROUP.get(number),
        weight_only=weight_only,
        takes_head=True,
    )


def _known(inner: Fields, key: str, algorithm: object) -> tuple[Format, bool]:
    known = _ALGORITHMS.get(str(algorithm).upper())
    if known is None:
        inner.refuse(key, f"{algorithm!r} is not understood")
    return known


def _mixed(inner: Fields, skipped: tuple[str, ...], kv: Format | None) -> Rules:
    """Modules that are not listed are left as they were."""
    listed = inner.nested("quantized_layers")
    if listed is None or not listed.content:
        inner.refuse("quantized_layers", "is missing, but the precision is mixed")
    by_format: dict[Format, list[str]] = {}
    weight_only = True
    for module in listed.content:
        entry = listed.inside(module, listed.content[module])
        number, alone = _known(entry, "quant_algo", entry.text("quant_algo"))
        by_format.setdefault(number, []).append(module)
        weight_only = weight_only and alone
    groups = [_GROUP[number] for number in by_format if number in _GROUP]
    return Rules(
        None,
        chosen=tuple((tuple(modules), number) for number, modules in by_format.items()),
        skipped=skipped,
        kv=kv,
        group_elements=min(groups, default=None),
        weight_only=weight_only,
    )


def _kv(inner: Fields) -> Format | None:
    algorithm = inner.text("kv_cache_quant_algo")
    scheme = inner.nested("kv_cache_scheme")
    if scheme is not None and algorithm is None:
        algorithm = {8: "FP8", 4: "NVFP4"}.get(scheme.optional("num_bits") or 0)
    kinds: dict[str, Format] = {
        "FP8": "fp8",
        "NVFP4": "nvfp4",
        "INT8": "int8",
        "FP8_AFFINE": "fp8",
    }
    if algorithm is None or algorithm.upper() in {"NONE", "AUTO"}:
        return None
    if algorithm.upper() not in kinds:
        inner.refuse("kv_cache_quant_algo", f"{algorithm!r} is not understood")
    return kinds[algorithm.upper()]
