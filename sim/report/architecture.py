"""Architectures compared: the finding in a sentence, and everything as plain values."""

from math import log
from typing import Any, Final

from sim.model.breakdown import formats_label
from sim.planning.architecture import AtContext, Candidate, Cell, Comparison
from sim.report.answer import stored_label
from sim.report.architecture_tables import attention_label
from sim.report.words import count, deployment_label, number
from sim.units import MS_PER_S

USUAL_BATCH: Final = 64
USUAL_CONTEXT: Final = 32_000
"""The point that the finding is about, where the grid has it."""
_ALIKE: Final = 1.05
"""Ratios below are no difference worth a sentence."""


def finding(comparison: Comparison) -> str:
    """Return what the architectures buy at one point of the grid, in one sentence."""
    batch, context = usual_point(comparison)
    ranked = sorted(comparison.candidates, key=lambda c: c.at_context(context).read_bytes)
    least, most = ranked[0], ranked[-1]
    start = f"At {count(context)} tokens and batch {count(batch)}"
    ratio = most.at_context(context).read_bytes / max(1.0, least.at_context(context).read_bytes)
    if ratio < _ALIKE:
        reads = f"{least.model.name} and {most.model.name} read as much cache per token"
    else:
        reads = (
            f"{least.model.name} reads {number(ratio, 2)}× less cache per token than"
            f" {most.model.name}"
        )
    reads += _on_a_gpu(least.at_context(context), most.at_context(context), ratio)
    return f"{start}, {reads}{_in_time(comparison, least, most)}."


def _on_a_gpu(least: AtContext, most: AtContext, ratio: float) -> str:
    """Return how the two compare on one GPU, where ranks that hold the same change the ratio."""
    own = most.read_bytes_per_gpu / max(1.0, least.read_bytes_per_gpu)
    if max(own, ratio) < _ALIKE * min(own, ratio):
        return ""
    if max(own, 1 / own) < _ALIKE:
        here = "as much"
    else:
        here = f"{number(max(own, 1 / own), 2)}× {'less' if own > 1 else 'more'}"
    return f" (counted once for the model; on each GPU {here})"


def usual_point(comparison: Comparison) -> tuple[int, int]:
    """Return batch and context that the finding is about.

    Where a model cannot be served there: the point nearest to it at which all can, if any.
    """
    usual = _usual(comparison)

    def apart(point: tuple[int, int]) -> float:
        return sum(abs(log(one / other)) for one, other in zip(point, usual, strict=True))

    points = [(b, c) for b in comparison.batches for c in comparison.contexts]
    served = [
        point
        for point in points
        if all(one.cell(*point).gpu_s_per_token is not None for one in comparison.candidates)
    ]
    return min(served, key=apart, default=usual)


def _usual(comparison: Comparison) -> tuple[int, int]:
    batches = [batch for batch in comparison.batches if batch <= USUAL_BATCH]
    contexts = [context for context in comparison.contexts if context <= USUAL_CONTEXT]
    return (
        batches[-1] if batches else comparison.batches[0],
        contexts[-1] if contexts else comparison.contexts[0],
    )


def _in_time(comparison: Comparison, least: Candidate, most: Candidate) -> str:
    """Return how the GPU time of two models compares: the end of the sentence."""
    point = usual_point(comparison)
    cells = [candidate.cell(*point) for candidate in (least, most)]
    times_ms = [c.gpu_s_per_token * MS_PER_S for c in cells if c.gpu_s_per_token is not None]
    if not times_ms:
        return "; neither can be served like that there"
    if len(times_ms) < len(cells):
        missing = next(c for c in (least, most) if c.cell(*point).gpu_s_per_token is None)
        return f"; {missing.model.name} {_WHY[missing.cell(*point).why or 'refused']} there"
    first_ms, second_ms = times_ms
    figures = f"({number(first_ms)} against {number(second_ms)} ms of GPU per token)"
    if max(first_ms, second_ms) < _ALIKE * min(first_ms, second_ms):
        return f" and takes as much GPU time {figures}"
    if first_ms <= second_ms:
        return f" and takes {number(second_ms / first_ms, 2)}× less GPU time {figures}"
    return f" but takes {number(first_ms / second_ms, 2)}× more GPU time {figures}"


_WHY: Final = {
    "does not fit": "does not fit",
    "KV full": "has no room for its cache",
    "too long": "takes no such context",
    "refused": "cannot be served like that",
}


def replica_line(comparison: Comparison) -> str:
    """Return on what the models run."""
    deployment = comparison.deployment
    gpus = deployment_label(comparison.gpu.name, 1, deployment.gpus_per_replica)
    layout = {
        "tensor": deployment.tensor_parallel,
        "pipeline": deployment.pipeline_parallel,
        "expert": deployment.expert_parallel,
        "attention data": deployment.attention_data_parallel,
    }
    spread = ", ".join(f"{name} parallel {width}" for name, width in layout.items() if width > 1)
    on = f"{gpus} ({spread})" if spread else gpus
    return (
        f"One replica of {on}; weights {stored_label(deployment.weights)}, KV cache in"
        f" {deployment.kv_precision}; every sequence decodes one token a pass."
    )


def refusals(comparison: Comparison) -> tuple[str, ...]:
    """Return why models cannot be served like this, one sentence each."""
    return tuple(c.refusal for c in comparison.candidates if c.refusal is not None)


def architecture_document(comparison: Comparison) -> dict[str, Any]:
    """Return the comparison as plain values, keys with units."""
    return {
        "finding": finding(comparison),
        "hardware": comparison.gpu.name,
        "engine": comparison.engine,
        "deployment": comparison.deployment.model_dump(mode="json"),
        "gpus": comparison.deployment.gpus_per_replica,
        "models": [
            {
                "name": candidate.model.name,
                "total_parameters": candidate.model.total_parameters,
                "active_parameters": candidate.model.active_parameters,
                "attention": attention_label(candidate.model),
                "checkpoint_format": formats_label(candidate.model),
                "weight_bytes_per_gpu": candidate.weight_bytes_per_gpu,
                "refusal": candidate.refusal,
                "contexts": [_context_document(at) for at in candidate.at],
                "grid": [_cell_document(cell) for cell in candidate.cells],
            }
            for candidate in comparison.candidates
        ],
    }


def _context_document(at: AtContext) -> dict[str, Any]:
    return {
        "context_tokens": at.context_tokens,
        "cache_bytes": at.cache_bytes,
        "cache_bytes_per_token": at.cache_bytes / at.context_tokens,
        "read_bytes": at.read_bytes,
        "read_bytes_per_gpu": at.read_bytes_per_gpu,
        "most_sequences": at.most_sequences,
        "ridge_tokens_per_pass": at.ridge_tokens_per_pass,
    }


def _cell_document(cell: Cell) -> dict[str, Any]:
    gpu_s = cell.gpu_s_per_token
    return {
        "batch": cell.sequences,
        "context_tokens": cell.context_tokens,
        "why_not": cell.why,
        "pass_ms": None if cell.pass_s is None else cell.pass_s * MS_PER_S,
        "gpu_ms_per_token": None if gpu_s is None else gpu_s * MS_PER_S,
        "tokens_per_s_per_gpu": None if gpu_s is None else 1 / gpu_s,
        "bound": cell.bound,
        "bound_share": cell.bound_share,
    }
