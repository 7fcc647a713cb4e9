"""Verify as many drafts as maximise expected tokens per second (vLLM, August 2026).

B* = argmax over B of [N + sum of the B best survival probabilities] / [draft cost + verify cost of
N + B positions]. The survivals are the running products of confidences, which are drawn for every
request and round: B* is chosen for many rounds of N requests, and a pass carries the mean over
them.
"""

from itertools import pairwise
from math import ceil, log2

import numpy as np

from sim.cost import ForwardPass, even_load
from sim.decoding import Adaptive
from sim.engine.drafting import DraftPricer
from sim.engine.policies.base import Mode
from sim.engine.policies.off_above import OFF
from sim.records import FloatArray

_DRAWS = 512
"""Rounds drawn for a batch, over all its requests, at least."""
_STEPS = 16
"""Budgets looked at for each draft position of the batch; all of them up to so many requests."""
_CERTAIN = 1e-9
"""A Beta distribution narrower than this is its mean."""
_BINS_PER_OCTAVE = 4
"""Contexts that share a decision: 19 % apart."""


class AdaptiveVerification:
    """Decisions by number of sequences and their mean context; remembered."""

    def __init__(
        self,
        settings: Adaptive,
        survival: tuple[float, ...],
        cost: ForwardPass,
        drafter: DraftPricer | None,
        max_batched_tokens: int,
    ) -> None:
        self._survival, self._cost, self._drafter = survival, cost, drafter
        self._concentration = settings.confidence_concentration
        self._budget = max_batched_tokens
        self._known: dict[tuple[int, int], Mode] = {}

    def mode(self, sequences: int, read_tokens: float) -> Mode:
        """Return the mean over rounds of the best budgets."""
        place = round(_BINS_PER_OCTAVE * log2(max(1.0, read_tokens / max(1, sequences))))
        known = self._known.get((sequences, place))
        if known is None:
            context = 2.0 ** (place / _BINS_PER_OCTAVE)
            known = self._known[sequences, place] = self._decide(sequences, context)
        return known

    def _decide(self, count: int, context: float) -> Mode:
        drafts = len(self._survival)
        most = min(count * drafts, self._budget - count)
        if most <= 0:
            return OFF
        budgets = np.unique(np.append(np.arange(0, most + 1, max(1, count // _STEPS)), most))
        tokens = count + self._expected(count)[:, budgets]
        draft_s = self._draft_s(count, context)
        verify_s = np.array([self._verify_s(count, context, int(b)) for b in budgets])
        best = np.argmax(tokens / (draft_s + verify_s), axis=1)
        gained = float(tokens[np.arange(len(best)), best].mean()) / count - 1.0
        verified = float(budgets[best].mean()) / count
        share = gained / sum(self._survival) if gained else 0.0
        if verified == drafts:  # to the last bit
            return Mode(drafts + 1, accepted_share=1.0, verified_share=1.0, drafting=True)
        mean_s = self._verify_s(count, context, round(count * verified))
        return Mode(
            positions=drafts + 1,
            accepted_share=share,
            verified_share=(1.0 + verified) / (drafts + 1),
            drafting=True,
            time_share=float(verify_s[best].mean()) / mean_s,
        )

    def _expected(self, count: int) -> FloatArray:
        """Accepted drafts of the B best, B = 0, 1, ..., for each of many rounds of the batch."""
        rounds, kappa = max(8, ceil(_DRAWS / count)), self._concentration
        rng = np.random.default_rng([count, len(self._survival)])
        confidence = np.ones((rounds, count, len(self._survival)))
        for place, (before, after) in enumerate(pairwise((1.0, *self._survival))):
            mean = after / before if before else 0.0
            low, high = kappa * mean, kappa * (1.0 - mean)
            if min(low, high) > _CERTAIN:
                confidence[:, :, place] = rng.beta(low, high, (rounds, count))
            else:
                confidence[:, :, place] = mean
        survival = np.cumprod(confidence, axis=2).reshape(rounds, -1)
        best_first = -np.sort(-survival, axis=1)
        gained = np.zeros((rounds, best_first.shape[1] + 1))
        np.cumsum(best_first, axis=1, out=gained[:, 1:])
        # a finite draw is a little off the mean that acceptance has over all rounds
        total = float(gained[:, -1].mean())
        return gained * (count * sum(self._survival) / total) if total else gained

    def _draft_s(self, count: int, context: float) -> float:
        """Draft for `count` sequences, s."""
        if self._drafter is None:
            return 0.0
        each = even_load(self._cost, count, context)
        return self._drafter.round_s(count, each.context_tokens, each.capped)

    def _verify_s(self, count: int, context: float, budget: int) -> float:
        """Verify `budget` drafts of `count` sequences, s."""
        cost, positions = self._cost, count + budget
        each = even_load(cost, count, context)
        share = positions / count
        verify = (count, positions, float(positions), each.context_tokens, each.pairs * share)
        capped = tuple((read, pairs * share) for read, pairs in each.capped)
        return cost.seconds(*verify, capped=capped)
