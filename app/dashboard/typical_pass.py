"""The pass that stands for a run: its decode passes, averaged."""

from dataclasses import dataclass

from sim.cost import PassLoad, even_load
from sim.cost.operation import Operation
from sim.report.decode_mean import decode_mean
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
    mean, cost = (
        decode_mean(outcome.simulation.leaps, lanes=outcome.simulation.lanes),
        outcome.serving.cost,
    )
    if mean is None:
        return None
    sequences, context = max(1, round(mean.sequences)), mean.context_tokens
    load = PassLoad(
        sequences=sequences,
        positions=max(1, round(mean.positions)),
        logit_positions=mean.logit_positions,
        context_tokens=context,
        pairs=mean.pairs,
        capped=mean.capped,
    )
    one_a_pass = even_load(cost, sequences, context / sequences)
    return TypicalPass(
        operations=cost.operations(load),
        baseline=cost.operations(one_a_pass),
        draft_s=mean.draft_s,
        positions=mean.positions,
    )
