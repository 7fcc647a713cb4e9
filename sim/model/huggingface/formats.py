"""The format of each part of a checkpoint, from the rules of its quantiser."""

from collections import Counter
from pathlib import Path
from typing import Final

from sim.errors import InputError
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.matrices import matrices
from sim.model.huggingface.module_patterns import Patterns
from sim.model.huggingface.parts import Stack
from sim.model.huggingface.quantisers import find_rules
from sim.model.huggingface.rules import Rules
from sim.model.weight_format import Format, Part, WeightFormat

_PLAIN: Final[dict[str, Format]] = {
    "bfloat16": "bf16",
    "float16": "fp16",
    # Engines serve 32-bit checkpoints in 16 bits.
    "float32": "bf16",
    "auto": "bf16",
}
_NEGLIGIBLE: Final = 0.01
"""Share of a part's weights in another format that is not worth a word."""


def weight_format(outer: Fields, text: Fields, file: Path, stack: Stack) -> WeightFormat:
    """Return what the checkpoint stores: the rules of its quantiser applied to every matrix."""
    plain = _plain(text) or _plain(outer) or "bf16"
    rules = find_rules(outer, text, file)
    if rules is None:
        source = f"no quantisation in {file.name}"
        return WeightFormat(layers=plain, embeddings=plain, head=plain, source=source)
    weights = _weights_by_format(rules, plain, stack)
    most = {part: max(counts, key=counts.__getitem__) for part, counts in weights.items()}
    layers = rules.default or plain
    overrides = {
        part: chosen
        for part, chosen in most.items()
        if chosen != (most.get("attention", layers) if part == "attention_output" else layers)
    }
    return WeightFormat(
        layers=layers,
        embeddings=plain,
        head=_head(rules, plain),
        kv=rules.kv,
        group_elements=rules.group_elements,
        zero_points=rules.zero_points,
        weight_only=rules.weight_only,
        mixed=tuple(part for part, counts in weights.items() if _is_mixed(counts)),
        source=rules.source,
        **overrides,
    )


def _plain(fields: Fields) -> Format | None:
    """Return the 16-bit format of what is not quantised."""
    key = "dtype" if fields.has("dtype") else "torch_dtype"
    given = fields.text(key)
    if given is None:
        return None
    known = _PLAIN.get(given.removeprefix("torch."))
    if known is None:
        raise InputError(
            f"`{fields.prefix}{key}` {given!r} is not understood",
            where=fields.where,
            remedy=f"understood: {', '.join(_PLAIN)}",
        )
    return known


def _weights_by_format(rules: Rules, plain: Format, stack: Stack) -> dict[Part, Counter[Format]]:
    """Return how many weights of each part are in which format."""
    skipped = Patterns(rules.skipped)
    chosen = [(Patterns(patterns), given) for patterns, given in rules.chosen]
    result: dict[Part, Counter[Format]] = {}
    for index, layer in enumerate(stack.layers):
        for part, elements, names in matrices(layer, stack.hidden_size):
            found = rules.default or plain
            for patterns, given in reversed(chosen):  # the first that fits has the last word
                if patterns.hit(index, names):
                    found = given
            if skipped.hit(index, names):
                found = plain
            result.setdefault(part, Counter())[found] += elements
    return result


def _head(rules: Rules, plain: Format) -> Format:
    """Only some quantisers touch the LM head, and then only where no list spares it."""
    if rules.default is None or not rules.takes_head or Patterns(rules.skipped).hit_head():
        return plain
    return rules.default


def _is_mixed(counts: Counter[Format]) -> bool:
    return counts.total() - max(counts.values()) > _NEGLIGIBLE * counts.total()
