"""The pass that stands for a run: its passes that only decode, averaged."""

from dataclasses import dataclass

import numpy as np

from sim.records import FloatArray, Leaps


@dataclass(frozen=True, slots=True)
class DecodeMean:
    """Means over the decode passes of a run; per pass, not per sequence.

    Where a replica has several lanes, all of them together, each with the mean of one.
    """

    sequences: float
    positions: float
    logit_positions: float
    context_tokens: float
    """KV tokens read."""
    pairs: float
    draft_s: float
    """Time of the drafter, s."""
    capped: tuple[tuple[float, float], ...] = ()
    """KV tokens read and pairs in layers that look back only so far, by reach."""


def decode_mean(leaps: Leaps, *, lanes: int = 1) -> DecodeMean | None:
    """Return the mean over all passes without prompts; `None` where there is none."""
    decode = (leaps.prefill_s == 0) & (leaps.sequences > 0)
    passes = leaps.passes[decode].astype(np.float64)
    count = float(passes.sum()) / lanes
    if count == 0:
        return None

    def per_pass(sums: FloatArray) -> float:
        return float(sums[decode].sum()) / count

    return DecodeMean(
        sequences=float(leaps.sequences[decode] @ passes) / count,
        positions=per_pass(leaps.positions),
        logit_positions=per_pass(leaps.logit_positions),
        context_tokens=per_pass(leaps.context_tokens),
        pairs=per_pass(leaps.pairs),
        draft_s=per_pass(leaps.draft_s),
        capped=tuple((per_pass(read), per_pass(pairs)) for read, pairs in leaps.capped),
    )
