"""What a quantiser wrote of its work: in the configuration, or in a side file next to it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from sim.errors import InputError
from sim.model.huggingface.compressed_tensors import compressed_tensors
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.modelopt import modelopt
from sim.model.huggingface.rules import Rules, names
from sim.model.weight_format import Format
from sim.yaml_files import read_json

SIDE_FILES: Final = (
    ("hf_quant_config.json", "modelopt"),
    ("quantize_config.json", "gptq"),
    ("quant_config.json", "awq"),
)
"""Side files and the method that writes them, where the file itself does not say."""


def find_rules(outer: Fields, text: Fields, file: Path) -> Rules | None:
    """Return the rules of the checkpoint's quantiser, or None where nothing is quantised."""
    for fields in {id(outer): outer, id(text): text}.values():
        found = fields.nested("quantization_config", "compression_config")
        if found is not None and found.content:
            rules = read_rules(found, None)
            return _with_expert_format(rules, text)
    for name, method in SIDE_FILES:
        side = _beside(file, name)
        if side is not None:
            found = Fields(read_json(side), str(side))
            return read_rules(found.nested("quantization") or found, method)
    return None


def _beside(file: Path, name: str) -> Path | None:
    """Next to `x_config.json` it may be called `x_hf_quant_config.json`."""
    for candidate in (file.with_name(name), file.with_name(file.stem + "_" + name),
                      file.with_name(file.name.removesuffix("config.json") + name)):  # fmt: skip
        if candidate.is_file() and candidate != file:
            return candidate
    return None


def read_rules(found: Fields, method: str | None) -> Rules:
    """Return the rules of one quantiser; one that is not known is refused by its name."""
    if found.flag("is_disabled", "disable_quantization"):
        found.refuse("is_disabled", "is true: take the whole object out")
    method = found.text("quant_method", "method") or method
    if method is None and found.has("quant_algo"):
        method = "modelopt"
    if method is None and found.has("config_groups"):
        method = "compressed-tensors"
    if method is None and (found.has("load_in_4bit") or found.has("load_in_8bit")):
        method = "bitsandbytes"
    reader = READERS.get((method or "").lower().replace("_", "-"))
    if reader is None:
        raise InputError(
            f"`{found.prefix}quant_method` {method!r} is not understood",
            where=found.where,
            remedy=f"understood: {', '.join(READERS)}",
        )
    rules = reader(found)
    place = f"`{found.prefix.rstrip('.')}` of " if found.prefix else ""
    return replace(rules, source=f"{method} in {place}{Path(found.where).name}")


def _with_expert_format(rules: Rules, text: Fields) -> Rules:
    """DeepSeek V4 names the format of its routed experts apart."""
    given = text.text("expert_dtype")
    if given is None:
        return rules
    if given not in {"fp4", "mxfp4"}:
        text.refuse("expert_dtype", f"{given!r} is not understood")
    return replace(rules, chosen=((("*.experts.*",), "mxfp4"), *rules.chosen))


def _fp8(found: Fields) -> Rules:
    """Scales per tensor or channel, or per block where `weight_block_size` says so."""
    blocks = found.items("weight_block_size")
    kept = names(found, "modules_to_not_convert", "ignored_layers", "exclude_modules")
    return Rules("fp8_block" if blocks else "fp8", skipped=kept)


def _integer(found: Fields, bits: int | None, default_group: int) -> Rules:
    widths: dict[int, Format] = {4: "int4", 8: "int8"}
    if bits not in widths:
        found.refuse("bits", f"{bits} is not understood: 4 or 8 bits are")
    group = found.content.get("group_size", found.content.get("q_group_size", default_group))
    return Rules(
        widths[bits],
        skipped=names(found, "modules_to_not_convert"),
        group_elements=group if isinstance(group, int) and group > 0 else None,
        weight_only=True,
    )


def _awq(found: Fields) -> Rules:
    rules = _integer(found, found.optional("bits", "w_bit"), 128)
    return replace(rules, zero_points=found.flag("zero_point", default=True))


def _gptq(found: Fields) -> Rules:
    """GPTQModel's `dynamic` may exclude modules (`-:regex`) or change them (`+:regex`)."""
    rules = _integer(found, found.optional("bits"), 128)
    dynamic = found.content.get("dynamic")
    if not isinstance(dynamic, Mapping):
        return rules
    if not all(key.startswith("-:") for key in dynamic):
        found.refuse("dynamic", "changes the format of some modules, which is not understood")
    excluded = tuple(f"re:{key[2:]}" for key in dynamic)
    return replace(rules, skipped=(*rules.skipped, *excluded))


def _bitsandbytes(found: Fields) -> Rules:
    """Four bits in groups of 64, or eight; the LM head is spared."""
    four = found.flag("load_in_4bit", "_load_in_4bit")
    if not four and not found.flag("load_in_8bit", "_load_in_8bit"):
        found.refuse("load_in_4bit", "is not set, nor is `load_in_8bit`")
    kept = names(found, "llm_int8_skip_modules")
    group = 64 if four else None
    return Rules("int4" if four else "int8", skipped=kept, group_elements=group, weight_only=True)


def _mxfp4(found: Fields) -> Rules:
    """gpt-oss: the routed experts and nothing else."""
    return Rules(
        None,
        chosen=((("*.experts", "*.experts.*"), "mxfp4"),),
        skipped=names(found, "modules_to_not_convert"),
        group_elements=32,
        weight_only=True,
    )


def _quark(found: Fields) -> Rules:
    """AMD Quark names the kind of number of the weights in its global configuration."""
    scheme = found.nested("global_quant_config")
    weight = scheme.nested("weight") if scheme else None
    kind = weight.text("dtype") if weight else None
    kinds: dict[str, Format] = {"fp8_e4m3": "fp8", "fp4": "mxfp4", "int8": "int8", "int4": "int4"}
    if weight is None or kind not in kinds:
        found.refuse("global_quant_config", f"has weights of {kind!r}, which are not understood")
    inputs = scheme.content.get("input_tensors") if scheme else None
    return Rules(
        kinds[kind],
        skipped=names(found, "exclude"),
        group_elements=weight.optional("group_size"),
        weight_only=not inputs,
        takes_head=True,
    )


READERS: Final[Mapping[str, Callable[[Fields], Rules]]] = MappingProxyType(
    {
        "fp8": _fp8,
        "fbgemm-fp8": _fp8,
        "deepseek-fp8": _fp8,
        "awq": _awq,
        "gptq": _gptq,
        "auto-round": _gptq,
        "bitsandbytes": _bitsandbytes,
        "mxfp4": _mxfp4,
        "compressed-tensors": compressed_tensors,
        "modelopt": modelopt,
        "modelopt-fp4": modelopt,
        "quark": _quark,
    }
)
