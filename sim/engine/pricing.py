"""The time of the coming pass or passes of a replica: served model plus drafter."""

from collections.abc import Sequence as Collection
from typing import NamedTuple

from sim.cost import ForwardPass, PassLoad
from sim.decoding import DraftWork
from sim.engine.batch import DecodeBatch
from sim.engine.sequence import Sequence


class Leap(NamedTuple):
    """Times of the coming passes: pass i takes `first_s + i * slope_s`, for `passes` passes at most."""

    first_s: float
    slope_s: float
    passes: int
    prompt: PassLoad | None
    """The prompt chunks of the pass; None where all only decode."""
    prefill_s: float
    """Part of the first pass that is billed to input tokens."""
    draft_s: float
    """Part of the first pass that is the drafter's."""
    draft_slope_s: float

    def after(self, passes: int) -> float:
        """Seconds from the start of the leap to the end of its pass number `passes`."""
        return passes * self.first_s + self.slope_s * (passes * (passes - 1) / 2)

    def pass_at(self, elapsed_s: float, most: int) -> int:
        """Return the number of the pass in flight (from 1, at most `most`) after `elapsed_s`.

        A pass that ends at that very moment is over.
        """
        if self.slope_s == 0.0:
            guess = int(elapsed_s / self.first_s)
        else:  # the root of first n + slope n (n - 1) / 2 = elapsed
            half = self.first_s / self.slope_s - 0.5
            guess = int((half * half + 2 * elapsed_s / self.slope_s) ** 0.5 - half)
        number = max(1, min(most, guess))
        while number > 1 and self.after(number - 1) > elapsed_s:
            number -= 1
        while number < most and self.after(number) <= elapsed_s:
            number += 1
        return number


class Pricer:
    """Turn the state of a batch into seconds."""

    __slots__ = ("cost", "draft")

    def __init__(self, cost: ForwardPass, draft: DraftWork | None) -> None:
        self.cost, self.draft = cost, draft

    def leap(self, batch: DecodeBatch) -> Leap:
        """Price the coming passes of a batch that only decodes."""
        count, cost = len(batch.members), self.cost
        context, pairs = batch.context + batch.read_extra, batch.pairs + batch.pair_extra
        growth = batch.context_growth
        first_s = cost.seconds(count, batch.positions, batch.logit_positions, context, pairs)
        slope_s, passes = cost.slope(context, pairs, growth, batch.pairs_growth)
        draft = self.draft
        if draft is None:
            return Leap(first_s, slope_s, passes, None, 0.0, 0.0, 0.0)
        factor = draft.share * draft.passes_per_round
        draft_s = factor * cost.seconds(count, count, count, context, context)
        draft_slope_s, draft_passes = cost.slope(context, context, growth, growth)
        draft_slope_s *= factor
        return Leap(
            first_s + draft_s,
            slope_s + draft_slope_s,
            min(passes, draft_passes),
            None,
            0.0,
            draft_s,
            draft_slope_s,
        )

    def mixed(self, batch: DecodeBatch, prefilling: Collection[Sequence]) -> Leap:
        """Price one pass that holds prompt chunks, and split it between input and output.

        The split is by the times that the prompt part and the decode part would take alone.
        """
        prompt = prompt_load(prefilling)
        prompt_s = self._pass_s(prompt)
        if not batch.members:
            return Leap(prompt_s, 0.0, 1, prompt, prompt_s, self._draft_s(prompt), 0.0)
        decode = (
            len(batch.members),
            batch.positions,
            batch.logit_positions,
            batch.context + batch.read_extra,
            batch.pairs + batch.pair_extra,
        )
        load = PassLoad(*decode, *prompt[5:])
        pass_s, decode_s = self._pass_s(load), self._pass_s(PassLoad(*decode))
        share = prompt_s / (prompt_s + decode_s)
        return Leap(pass_s, 0.0, 1, prompt, pass_s * share, self._draft_s(load), 0.0)

    def _pass_s(self, load: PassLoad) -> float:
        if self.draft is None:
            return self.cost.seconds(*load)
        return self.cost.seconds(*load) + self._draft_s(load)

    def _draft_s(self, load: PassLoad) -> float:
        """Drafter passes of one pass: the first takes the prompt chunks along, the others only decode.

        A drafter pass has one query position a sequence, over the same KV.
        """
        draft, count, context = self.draft, load.sequences, load.context_tokens
        if draft is None:
            return 0.0
        total = self.cost.seconds(count, count, count, context, context, *load[5:])
        if count and draft.passes_per_round > 1:
            alone_s = self.cost.seconds(count, count, count, context, context)
            total += (draft.passes_per_round - 1) * alone_s
        return draft.share * total


def prompt_load(prefilling: Collection[Sequence]) -> PassLoad:
    """Return the prompt chunks of a pass: each reads what was computed before it, and itself."""
    tokens = context = sequences = 0
    pairs = 0.0
    for sequence in prefilling:
        chunk, before = sequence.chunk, sequence.computed
        if chunk:
            sequences += 1
            tokens += chunk
            context += before + chunk
            pairs += chunk * before + chunk * (chunk + 1) / 2
    return PassLoad(0, 0, 0.0, 0.0, 0.0, sequences, tokens, context, pairs)
