"""Models as tables: one line each, or one model part by part."""

from collections.abc import Iterable
from typing import Any, Final

from sim.cost import STATE_BYTES
from sim.model import Latent, Model, Recurrent
from sim.model.architecture import mixer_label
from sim.model.breakdown import OTHER, PartCount, breakdown, checkpoint_bytes, formats_label
from sim.model.weight_format import PARTS
from sim.planning.architecture import cache_bytes
from sim.precision import BYTES_PER_WEIGHT, Precision
from sim.report.table import Table, columns
from sim.report.words import NOTHING, count, number, percent
from sim.units import GB, GIGA

SHORT_CONTEXT_TOKENS: Final = 8192
"""Context at which windowed and recurrent models show what they save."""
_KIB: Final = 1024.0
_FAMILIES: Final = {
    "autoregressive": "tokens",
    "diffusion": "whole",
    "block_diffusion": "blocks",
}
Facts = dict[str, Any]


def model_facts(model: Model, names: Iterable[str] = ()) -> Facts:
    """Return what is counted of a model; the KV cache as the checkpoint keeps it."""
    kv: Precision = model.weights.kv or "bf16"
    width = BYTES_PER_WEIGHT[kv]
    at_short = model.kv_bytes_per_token(width, tokens=SHORT_CONTEXT_TOKENS)
    return {
        "name": model.name,
        "names": list(names),
        "total_parameters": model.total_parameters,
        "active_parameters": model.active_parameters,
        "vision_parameters": model.vision_parameters,
        "mtp_parameters": model.mtp_parameters,
        "kv_bytes_per_token": model.kv_bytes_per_token(width),
        f"kv_bytes_per_token_at_{SHORT_CONTEXT_TOKENS}": at_short,
        "kv_precision": kv,
        "indexer_bytes_per_token": float(model.indexer_elements_per_token),
        "state_bytes_per_sequence": model.state_elements_per_sequence * STATE_BYTES,
        "weights": {part: model.weights.of(part) for part in PARTS},
        "weights_source": model.weights.source,
        "checkpoint_format": formats_label(model),
        "checkpoint_bytes": checkpoint_bytes(model),
        "layers": model.num_layers,
        "architecture": model.describe(),
        "parameters": [_part_facts(part) for part in breakdown(model)],
        "hidden_size": model.hidden_size,
        "vocab_size": model.vocab_size,
        "tied_embeddings": model.tied_embeddings,
        "max_context_tokens": model.max_context_tokens,
        "causal": model.causal,
        "decoding": list(model.decoding),
        "source": model.source,
    }


def models_table(facts: list[Facts]) -> Table:
    """Return one line for each model."""
    at = f"kv_bytes_per_token_at_{SHORT_CONTEXT_TOKENS}"
    rows = tuple(
        (
            row["name"],
            number(row["total_parameters"] / GIGA),
            number(row["active_parameters"] / GIGA),
            count(row["layers"]),
            number(row["kv_bytes_per_token"] / _KIB, 2),
            number(row[at] / _KIB, 2) if row[at] < row["kv_bytes_per_token"] else "",
            context_label(row["max_context_tokens"]),
            ", ".join(_FAMILIES[family] for family in row["decoding"]),
            row["checkpoint_format"],
        )
        for row in facts
    )
    heads = ("<model", "total", "active", "layers", "KV", "at 8k", "takes")
    note = (
        "total, active: billion parameters, embeddings included; KV: KiB of cache for one more"
        " token, all layers, as the checkpoint keeps it; at 8k: per token of 8,192, where windows"
        " stop growing; takes: tokens of context; emits: single tokens, blocks, or the whole"
        " answer at once"
    )
    return Table("Models", columns(*heads, "<emits", "<stored as"), rows, note)


def context_label(tokens: int) -> str:
    """Return a context as people call it.

    >>> context_label(131072), context_label(1048576), context_label(5000)
    ('128k', '1M', '5,000')
    """
    for unit, letter in ((1 << 20, "M"), (1 << 10, "k")):
        if tokens >= unit and tokens % unit == 0:
            return f"{tokens // unit}{letter}"
    return count(tokens)


def model_answer(model: Model) -> str:
    """Return what kind of model it is in one sentence."""
    total, active = model.total_parameters, model.active_parameters
    size = f"{number(total / GIGA)} billion parameters"
    if active != total:
        size += f", {number(active / GIGA)} billion of them active for a token"
    stored = f"stored as {formats_label(model)} in {number(checkpoint_bytes(model) / GB)} GB"
    return f"{model.name} has {size}; {stored}."


def model_lines(model: Model) -> tuple[str, ...]:
    """Return what else matters, one sentence each."""
    decoding = " or ".join(_WAYS[family] for family in model.decoding)
    sight = "causal" if model.causal else "bidirectional"
    context = count(model.max_context_tokens)
    lines = [
        f"Takes {context} tokens of context; decodes {decoding}; attention is {sight}.",
        f"Formats: {model.weights.source}. Shape: {model.source}.",
    ]
    if model.weights.weight_only:
        lines.append("Quantised weights only: products run in 16 bits.")
    return tuple(lines)


_WAYS: Final = {
    "autoregressive": "one token a pass",
    "diffusion": "by diffusion over the whole answer",
    "block_diffusion": "by diffusion in blocks",
}


def parameters_table(model: Model) -> Table:
    """Return every part with its parameters, total and active, and its format."""
    parts = breakdown(model)
    rows: list[tuple[str, ...]] = []
    begins = True
    for part in parts:
        if part.where == "mtp":
            continue
        layers = count(part.layers) if part.layers else NOTHING
        rows.append(_part_row(part, model, layers if begins or not part.layers else ""))
        begins = part.name == OTHER
    total, active = model.total_parameters, model.active_parameters
    rows.append(("", "all", "", _billions(total), _billions(active), "100%", ""))
    rows += [
        ("", part.name, "apart", _billions(part.elements), NOTHING, "", part.format)
        for part in parts
        if part.where == "mtp"
    ]
    heads = columns("layers", "<part", "<what", "billion", "active", "share", "<stored as")
    mixed = any(part.mixed for part in parts)
    note = "~: a part of these weights is stored in other formats" if mixed else None
    return Table("Parameters", heads, tuple(rows), note)


def cache_table(model: Model) -> Table:
    """Return what a sequence keeps in memory, by kind of layer."""
    kv: Precision = model.weights.kv or "bf16"
    width = BYTES_PER_WEIGHT[kv]
    rows: list[tuple[str, ...]] = []
    for group in model.groups:
        if not group.kv_elements_per_token:
            continue
        size = group.kv_elements_per_token * width
        mixer, window = group.layer.mixer, group.layer.window_tokens
        grows = f"{count(window)} tokens" if window else "the whole context"
        rows.append((count(group.count), mixer_label(mixer), count(size), grows))
        if isinstance(mixer, Latent) and mixer.indexer_elements_per_token:
            keys = group.count * mixer.indexer_elements_per_token
            rows.append((count(group.count), "keys of the indexer, fp8", count(keys), grows))
    state = model.state_elements_per_sequence * STATE_BYTES
    if state:
        layers = sum(g.count for g in model.groups if isinstance(g.layer.mixer, Recurrent))
        rows.append((count(layers), "states, fp32", f"{count(state)} in all", "never"))
    tokens = SHORT_CONTEXT_TOKENS
    whole = cache_bytes(model, kv, tokens)
    heads = columns("layers", "<what is kept", f"bytes per token ({kv})", "<grows up to")
    note = f"A sequence of {count(tokens)} tokens keeps {number(whole / 2**20)} MiB"
    return Table("Cache of one sequence", heads, tuple(rows), note)


def _part_row(part: PartCount, model: Model, layers: str) -> tuple[str, ...]:
    return (
        layers,
        part.name,
        part.what,
        _billions(part.elements),
        _billions(part.active_elements),
        percent(part.elements / model.total_parameters),
        f"~{part.format}" if part.mixed else part.format,
    )


def _billions(elements: int) -> str:
    billions = elements / GIGA
    return "<0.001" if 0 < billions < 0.0005 else f"{billions:,.3f}"


def _part_facts(part: PartCount) -> Facts:
    return {
        "part": part.name,
        "where": part.where,
        "layers": part.layers,
        "what": part.what,
        "parameters": part.elements,
        "active_parameters": part.active_elements,
        "format": part.format,
        "mixed": part.mixed,
    }
