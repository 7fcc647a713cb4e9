"""How hard the GPUs worked: bandwidth and FLOP used, and what bound the time."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.cost.forward_pass import ForwardPass, PassLoad
from sim.cost.memory import weight_bytes_per_rank
from sim.cost.operation import Bound
from sim.cost.work import attention_flop, kv_read_bytes
from sim.deployment import BYTES_PER_ELEMENT
from sim.records import FloatArray, Leaps

_BINS_PER_OCTAVE = 8


@dataclass(frozen=True, slots=True)
class Usage:
    """Over busy time; the drafter's work is not counted as useful."""

    mbu: float
    """Model bandwidth utilisation: bytes of weights and KV read / (peak bandwidth x busy time)."""
    mfu: float
    """Model FLOP utilisation: FLOP / (peak of the compute precision x busy time)."""
    bound: Bound
    """What bound most of the time."""
    share_by_bound: Mapping[Bound, float]


def usage(cost: ForwardPass, leaps: Leaps) -> Usage | None:
    """Add up the work of all leaps; None where nothing ran."""
    busy_s = float(leaps.duration_s.sum())
    if busy_s == 0.0:
        return None
    model, rank = cost.model, cost.ranks
    layer_flop = sum(gemm.work(1.0).flop for gemm in cost.gemms)
    flop = model.layers * layer_flop * leaps.positions.sum()
    flop += cost.head.work(1.0).flop * leaps.logit_positions.sum()
    flop += model.layers * attention_flop(model, model.heads // rank, leaps.pairs.sum())
    kv_heads = max(1, model.kv_heads // rank)
    kv_bytes = BYTES_PER_ELEMENT[cost.deployment.kv_precision]
    moved = model.layers * kv_read_bytes(model, kv_heads, leaps.context_tokens.sum(), kv_bytes)
    embedding = cost.head.weight_elements * cost.head.weight_bytes_per_element
    weights = weight_bytes_per_rank(model, cost.deployment)
    moved += (weights if model.tied_embeddings else weights - embedding) * leaps.passes.sum()
    peak = cost.gpu.peak_flop_per_s(cost.compute_precision) or 0.0
    shares = _share_by_bound(cost, leaps, leaps.duration_s)
    return Usage(
        mbu=float(moved / (cost.gpu.memory_bandwidth_bytes_per_s.value * busy_s)),
        mfu=float(flop / (peak * busy_s)),
        bound=max(shares, key=lambda bound: shares[bound]),
        share_by_bound=shares,
    )


def _share_by_bound(cost: ForwardPass, leaps: Leaps, weight_s: FloatArray) -> dict[Bound, float]:
    """Split the busy time by bound; leaps of like size share one representative."""
    passes = leaps.passes.astype(np.float64)
    per_pass = leaps.positions / passes
    bins = np.round(np.log2(np.maximum(per_pass, 1.0)) * _BINS_PER_OCTAVE).astype(np.int64)
    shares: dict[Bound, float] = {}
    for number in np.unique(bins):
        mine = bins == number
        count = passes[mine].sum()
        load = PassLoad(
            sequences=round(float((leaps.sequences[mine] * passes[mine]).sum() / count)),
            positions=round(float(leaps.positions[mine].sum() / count)),
            logit_positions=float(leaps.logit_positions[mine].sum() / count),
            context_tokens=float(leaps.context_tokens[mine].sum() / count),
            pairs=float(leaps.pairs[mine].sum() / count),
        )
        operations = cost.operations(load)
        total = sum(operation.total_s for operation in operations)
        mine_s = float(weight_s[mine].sum())
        for operation in operations:
            share = mine_s * operation.total_s / total
            shares[operation.bound] = shares.get(operation.bound, 0.0) + share
    whole = float(weight_s.sum())
    return {bound: seconds / whole for bound, seconds in shares.items()}
