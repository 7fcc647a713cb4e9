"""compressed-tensors (LLM Compressor): groups of modules, each with a scheme of numbers."""

from dataclasses import replace

from sim.model.huggingface.fields import Fields
from sim.model.huggingface.rules import Rules, names
from sim.model.weight_format import Format


def compressed_tensors(found: Fields) -> Rules:
    """Return the rules; a target is a class (`Linear`), a name, or a regular expression."""
    groups = found.nested("config_groups")
    if groups is None or not groups.content:
        found.refuse("config_groups", "is missing")
    rules = Rules(None, skipped=names(found, "ignore"), takes_head=True, kv=_kv(found))
    for key in groups.content:
        rules = _with_group(rules, groups.inside(key, groups.content[key]))
    return rules


def _with_group(rules: Rules, group: Fields) -> Rules:
    weights = group.nested("weights")
    if weights is None:
        return rules  # activations alone: the weights are left as they were
    number = number_format(weights)
    rules = replace(
        rules,
        group_elements=_group_size(weights, number) or rules.group_elements,
        zero_points=rules.zero_points or weights.content.get("symmetric") is False,
        weight_only=not group.content.get("input_activations"),
    )
    targets = names(group, "targets") or ("Linear",)
    specific = tuple(target for target in targets if not _is_class(target))
    if specific:
        return replace(rules, chosen=(*rules.chosen, (specific, number)))
    return replace(rules, default=number)


def _is_class(target: str) -> bool:
    return not target.startswith("re:") and "." not in target and target[:1].isupper()


def number_format(weights: Fields) -> Format:
    """Return the format that a scheme of numbers means."""
    bits, kind = weights.optional("num_bits"), weights.text("type") or "int"
    if kind == "int" and bits in {4, 8}:
        return "int4" if bits == 4 else "int8"
    if kind == "float" and bits == 8:
        blocks = weights.text("strategy") == "block" or bool(
            weights.content.get("block_structure")
        )
        return "fp8_block" if blocks else "fp8"
    if kind == "float" and bits == 4:
        return "mxfp4" if weights.optional("group_size") == 32 else "nvfp4"
    return weights.refuse("num_bits", f"{bits} of type {kind!r} are not understood")


def _group_size(weights: Fields, number: Format) -> int | None:
    given = weights.content.get("group_size")
    if isinstance(given, int) and given > 0:
        return given
    return {"nvfp4": 16, "mxfp4": 32}.get(number)


def _kv(found: Fields) -> Format | None:
    scheme = found.nested("kv_cache_scheme")
    return number_format(scheme) if scheme else None
