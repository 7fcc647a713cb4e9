"""The pass that stands for a run: its decode passes, averaged."""

from dataclasses import dataclass

import numpy as np

from sim.cost import PassLoad, even_load
from sim.cost.operation import Operation
from sim.records import FloatArray
from sim.run import Outcome


@dataclass(frozen=True, slots=True)
class TypicalPass:
    """One pass at the mean load of a run, without prompts."""

    operations: tuple[Operation, ...]
    baseline: tuple[Operation, ...]
    """The same sequences at one token a pass."""
    draft_s: float
    """Time of the drafter that belongs to one pass."""
    positions: float
    """Query positions in the pass: what the ridge is compared with."""


def typical_pass(outcome: Outcome) -> TypicalPass | None:
    """Return the mean of the passes that only decode; `None` where there is none.

    Loads are averaged over passes, and rounded where a count must be whole.
    """
    leaps, cost = outcome.simulation.leaps, outcome.serving.cost
    decode = (leaps.prefill_s == 0) & (leaps.sequences > 0)
    passes = leaps.passes[decode].astype(np.float64)
    count = float(passes.sum())
    if count == 0:
        return None

    def per_pass(sums: FloatArray) -> float:
        return float(sums[decode].sum()) / count

    sequences = max(1, round(float(leaps.sequences[decode] @ passes) / count))
    positions, context = per_pass(leaps.positions), per_pass(leaps.context_tokens)
    load = PassLoad(
        sequences=sequences,
        positions=max(1, round(positions)),
        logit_positions=per_pass(leaps.logit_positions),
        context_tokens=context,
        pairs=per_pass(leaps.pairs),
        capped=tuple((per_pass(read), per_pass(pairs)) for read, pairs in leaps.capped),
    )
    one_a_pass = even_load(cost, sequences, context / sequences)
    return TypicalPass(
        operations=cost.operations(load),
        baseline=cost.operations(one_a_pass),
        draft_s=per_pass(leaps.draft_s),
        positions=positions,
    )
