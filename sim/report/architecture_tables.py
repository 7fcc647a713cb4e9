"""Architectures compared as tables: models, their caches, and the grid of batch and context."""

from collections import Counter
from collections.abc import Callable
from typing import Final

from sim.model import GroupedQuery, Latent, Model, Recurrent
from sim.model.breakdown import formats_label
from sim.model.mixers import Mixer
from sim.planning.architecture import AtContext, Candidate, Cell, Comparison
from sim.report.table import Table, columns
from sim.report.words import NOTHING, count, number
from sim.units import GB, GIGA, MIB, MS_PER_S

_LETTERS: Final = {"memory": "m", "compute": "c", "collective": "x", "launch": "l", "host": "h"}
_LEGEND: Final = (
    "bound by m: memory bandwidth, c: compute, x: collectives, l: kernel launches, h: host"
)


def architecture_tables(comparison: Comparison) -> tuple[Table, ...]:
    """Return the models, their caches, and the grid in time and in speed."""
    return (
        _models(comparison),
        _caches(comparison),
        _grid(comparison, "GPU time per output token, ms", _time_cell, _LEGEND),
        _grid(comparison, "Output tokens/s of each GPU", _speed_cell, None),
    )


def attention_label(model: Model) -> str:
    """Return the kinds of mixers with their numbers of layers.

    >>> from sim.model import load_model
    >>> attention_label(load_model("gpt-oss-20b"))
    '12 window 128, 12 GQA'
    """
    kinds: Counter[str] = Counter()
    for group in model.groups:
        if group.layer.mixer is not None:
            kinds[_kind(group.layer.mixer)] += group.count
    return ", ".join(f"{layers} {kind}" for kind, layers in kinds.items())


def _kind(mixer: Mixer) -> str:
    match mixer:
        case GroupedQuery(window_tokens=int(window)):
            return f"{'chunk' if mixer.chunked else 'window'} {window}"
        case GroupedQuery(heads=heads, kv_heads=kv_heads):
            return "MHA" if heads == kv_heads else "MQA" if kv_heads == 1 else "GQA"
        case Latent(top_k_tokens=None):
            return "MLA"
        case Latent():
            return "sparse MLA"
        case Recurrent(kind=kind):
            return kind.replace("_", " ")


def _models(comparison: Comparison) -> Table:
    rows = tuple(
        (
            candidate.model.name,
            number(candidate.model.total_parameters / GIGA),
            number(candidate.model.active_parameters / GIGA),
            formats_label(candidate.model),
            number(candidate.weight_bytes_per_gpu / GB),
            attention_label(candidate.model),
        )
        for candidate in comparison.candidates
    )
    heads = columns("<model", "total", "active", "<published as", "GB a GPU", "<layers that mix")
    note = "total, active: billion parameters; GB a GPU: weights as they are served here"
    return Table("Architectures", heads, rows, note)


def _caches(comparison: Comparison) -> Table:
    rows = tuple(
        (
            count(context) if place == 0 else "",
            candidate.model.name,
            number(at.cache_bytes / MIB),
            number(at.read_bytes / MIB),
            number(at.read_bytes_per_gpu / MIB),
            NOTHING if at.most_sequences is None else count(at.most_sequences),
            _ridge(candidate, at),
        )
        for context in comparison.contexts
        for place, candidate in enumerate(comparison.candidates)
        for at in (candidate.at_context(context),)
    )
    heads = columns("context", "<model", "MiB kept", "read", "a GPU", "most", "ridge")
    note = (
        "MiB kept for one sequence; MiB read for one new token of it, counted once and on one GPU"
        " (what ranks hold twice is read twice); most: sequences that the KV pool holds; ridge:"
        " sequences from which on a pass is compute-bound"
    )
    return Table("Cache of one sequence", heads, rows, note)


def _ridge(candidate: Candidate, at: AtContext) -> str:
    if candidate.refusal is not None:
        return NOTHING
    return "never" if at.ridge_tokens_per_pass is None else count(at.ridge_tokens_per_pass)


def _grid(
    comparison: Comparison, title: str, form: Callable[[Cell], str], note: str | None
) -> Table:
    rows = tuple(
        (
            count(context) if place == 0 else "",
            candidate.model.name,
            *(form(candidate.cell(batch, context)) for batch in comparison.batches),
        )
        for context in comparison.contexts
        for place, candidate in enumerate(comparison.candidates)
    )
    batches = (f"batch {count(batch)}" for batch in comparison.batches)
    return Table(title, columns("context", "<model", *batches), rows, note)


def _time_cell(cell: Cell) -> str:
    if cell.gpu_s_per_token is None or cell.bound is None:
        return str(cell.why)
    return f"{number(cell.gpu_s_per_token * MS_PER_S)} {_LETTERS[cell.bound]}"


def _speed_cell(cell: Cell) -> str:
    return str(cell.why) if cell.gpu_s_per_token is None else number(1 / cell.gpu_s_per_token)
