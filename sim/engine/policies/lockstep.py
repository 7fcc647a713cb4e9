"""Blocks of a batch that wait for each other: all take the passes of the slowest.

Where sequences denoise in lockstep, a block that is done goes on through the passes of the batch
until the last one is. Of n sequences the slowest takes E[max of n] passes instead of the mean, so
each pass of a sequence stands for E[max] / mean passes of the batch. In step with the rest of the
engine, the mean over a block goes for each of its passes (docs/adr/0003-mean-over-the-phase.md).
"""

from collections.abc import Callable
from collections.abc import Sequence as Collection

from sim.cost import ForwardPass
from sim.decoding import Strategy
from sim.engine.batch import DecodeBatch
from sim.engine.drafting import DraftPricer
from sim.engine.pricing import Leap, Pricer
from sim.engine.sequence import Sequence


class LockstepPricer(Pricer):
    """Prices passes like its base, and the passes that are spent on waiting besides."""

    __slots__ = ("_known", "stretch")

    stretch: Callable[[int], float]
    """Passes of the slowest of so many sequences, over those of a mean one."""

    def waiting(self, stretch: Callable[[int], float]) -> "LockstepPricer":
        """Set how much longer so many sequences take together; return itself."""
        self.stretch, self._known = stretch, dict[int, float]()
        return self

    def _factor(self, sequences: int) -> float:
        known = self._known.get(sequences)
        if known is None:
            known = self._known[sequences] = self.stretch(sequences)
        return known

    def decode(self, batch: DecodeBatch, leap: Leap) -> None:
        """Price the coming passes of a batch that only decodes."""
        super().decode(batch, leap)
        factor = self._factor(len(batch.members))
        leap.first_s *= factor
        leap.slope_s *= factor
        leap.draft_s *= factor
        leap.draft_slope_s *= factor

    def mixed(self, batch: DecodeBatch, prefilling: Collection[Sequence], leap: Leap) -> None:
        """Price one pass that holds prompt chunks; those spent on waiting hold none."""
        super().mixed(batch, prefilling, leap)
        count = len(batch.members)
        if count:
            capped = batch.capped() if batch.reaches else ()
            decode = (count, batch.positions, batch.logit_positions, batch.read, batch.pairs)
            leap.first_s += (self._factor(count) - 1.0) * self.cost.seconds(*decode, capped=capped)


def pricer_of(strategy: Strategy, cost: ForwardPass, drafter: DraftPricer | None) -> Pricer:
    """Return the pricing of a strategy's passes."""
    if strategy.stretch(2) == 1.0:
        return Pricer(cost, drafter)
    return LockstepPricer(cost, drafter).waiting(strategy.stretch)
