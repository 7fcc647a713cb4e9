"""How hard the GPUs worked: bandwidth and FLOP used, and what bound the time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.cost.forward_pass import ForwardPass
from sim.cost.operation import Bound
from sim.cost.pass_load import PassLoad
from sim.records import Leaps

_BINS_PER_OCTAVE = 8


@dataclass(frozen=True, slots=True)
class Usage:
    """Over busy time; the drafter's work is not counted as useful."""

    mbu: float
    """Bytes of weights and KV read / (peak bandwidth x busy time); activations do not count."""
    mfu: float
    """FLOP / (peak of the format that most weights are multiplied in x busy time). FLOP are those
    of positions that a request has in a pass; slots that pad it to a captured graph add none.
    """
    bound: Bound
    """What bound most of the time."""
    share_by_bound: Mapping[Bound, float]
    busy_s: float
    """What all of it is over: time of passes, of all replicas together."""


def usage_of_all(parts: Sequence[Usage]) -> Usage | None:
    """Return the usage over the busy time of several runs; `None` where nothing ran."""
    busy_s = sum(part.busy_s for part in parts)
    if not busy_s:
        return None

    def mean(values: Iterable[float]) -> float:
        return sum(v * part.busy_s for v, part in zip(values, parts, strict=True)) / busy_s

    bounds = dict.fromkeys(bound for part in parts for bound in part.share_by_bound)
    shares = {name: mean(part.share_by_bound.get(name, 0.0) for part in parts) for name in bounds}
    return Usage(
        mbu=mean(part.mbu for part in parts),
        mfu=mean(part.mfu for part in parts),
        bound=max(shares, key=lambda bound: shares[bound]),
        share_by_bound=shares,
        busy_s=busy_s,
    )


def usage(cost: ForwardPass, leaps: Leaps, *, lanes: int = 1) -> Usage | None:
    """Add up the work of all leaps; None where nothing ran.

    Leaps of like size (an eighth of an octave of tokens per pass) share one representative pass,
    which is exact for all that is linear in tokens, context and pairs. Where each leap is of one
    of several lanes of a replica, it is priced as if all of them had its load.
    """
    duration_s = leaps.duration_s
    peak = cost.gpu.peak_flop_per_s(cost.compute_precision) or 0.0
    busy_s = float(duration_s.sum())
    if busy_s == 0.0:
        return None
    per_pass = leaps.positions / leaps.passes
    bins = np.round(np.log2(np.maximum(per_pass, 1.0)) * _BINS_PER_OCTAVE).astype(np.int64)
    shares: dict[Bound, float] = {}
    flop = moved = 0.0
    for number in np.unique(bins):
        mine = bins == number
        passes = float(leaps.passes[mine].sum())
        load = _representative(leaps, mine, passes / lanes)
        operations = cost.operations(load)
        useful = cost.operations(load, pads=False) if cost.engine.graph_batch_sizes else operations
        flop += passes * sum(operation.count * operation.flop for operation in useful)
        total_s = sum(operation.total_s for operation in operations)
        share = float(duration_s[mine].sum()) / busy_s / total_s
        for operation in operations:
            known = shares.get(operation.bound, 0.0)
            shares[operation.bound] = known + share * operation.total_s
            if operation.kind == "kernel":
                weights_and_kv = operation.bytes_moved - operation.activation_bytes
                moved += passes * operation.count * weights_and_kv
    return Usage(
        mbu=moved / (cost.gpu.memory_bandwidth_bytes_per_s.value * busy_s),
        mfu=flop / (peak * busy_s),
        bound=max(shares, key=lambda bound: shares[bound]),
        share_by_bound=shares,
        busy_s=busy_s,
    )


def _representative(leaps: Leaps, mine: NDArray[np.bool_], passes: float) -> PassLoad:
    """Return the mean of `passes` passes."""
    return PassLoad(
        sequences=round(float((leaps.sequences[mine] * leaps.passes[mine]).sum() / passes)),
        positions=round(float(leaps.positions[mine].sum() / passes)),
        logit_positions=float(leaps.logit_positions[mine].sum() / passes),
        context_tokens=float(leaps.context_tokens[mine].sum() / passes),
        pairs=float(leaps.pairs[mine].sum() / passes),
        capped=tuple(
            (float(read[mine].sum() / passes), float(pairs[mine].sum() / passes))
            for read, pairs in leaps.capped
        ),
    )
