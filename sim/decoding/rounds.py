"""Rounds of drafting and verification: how many an answer takes, and what each holds."""

from itertools import accumulate
from operator import mul

import numpy as np

from sim.decoding.acceptance import Survival
from sim.decoding.plan import Phase
from sim.records import IntArray


def scaled(survival: Survival, scale: float) -> Survival:
    """Return survival with the acceptance of every position (a_j) times `scale`, up to 1.

    >>> scaled((0.5, 0.25), 0.5)
    (0.25, 0.0625)
    """
    if scale == 1.0:
        return survival
    conditional = []
    before = 1.0
    for value in survival:
        conditional.append(min(1.0, scale * value / before) if before else 0.0)
        before = value
    return tuple(accumulate(conditional, mul))


def draw_rounds(survival: Survival, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw how many rounds complete each answer, whose first token comes from the prefill."""
    thresholds = np.array(survival)[::-1]
    rounds = np.zeros(len(output_tokens), dtype=np.int64)
    missing = np.asarray(output_tokens, dtype=np.int64) - 1
    active = np.flatnonzero(missing > 0)
    missing = missing[active]
    while len(active):
        rounds[active] += 1
        # accepted = number of positions j whose survival exceeds the draw
        # (survival falls with j)
        draws = rng.random(len(active))
        accepted = len(thresholds) - np.searchsorted(thresholds, draws, side="right")
        missing = missing - 1 - accepted
        keep = missing > 0
        active, missing = active[keep], missing[keep]
    return rounds


def verifying(positions: int, passes: int, tokens: float) -> Phase:
    """Return the phase of `passes` verifications of so many positions that commit `tokens`."""
    return Phase(
        passes=passes,
        positions=positions,
        logit_positions=float(positions),
        kv_growth=tokens / passes,
        read_extra=float(positions),
        pair_extra=positions * (positions + 1) / 2,
        slots_extra=float(positions),
        chunk_passes=1,
        visible_tokens=round(tokens),
    )
