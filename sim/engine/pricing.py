"""The time of the coming pass or passes of a replica: served model plus drafter."""

from collections.abc import Sequence as Collection

from sim.cost import ForwardPass, PassLoad, Reads
from sim.decoding import DraftWork
from sim.engine.batch import DecodeBatch
from sim.engine.reach import prompt_reads
from sim.engine.sequence import Sequence


class Leap:
    """Passes in flight: pass i takes `first_s + i * slope_s`, for `limit` passes at most.

    One instance a replica, written anew for each leap.
    """

    __slots__ = (
        "draft_s",
        "draft_slope_s",
        "first_s",
        "limit",
        "prefill_capped",
        "prefill_context",
        "prefill_pairs",
        "prefill_s",
        "prefill_sequences",
        "prefill_tokens",
        "slope_s",
    )

    def __init__(self) -> None:
        self.first_s = self.slope_s = 0.0
        self.limit = 1
        self.prefill_s = 0.0
        """Part of the first pass that is billed to input tokens."""
        self.draft_s = self.draft_slope_s = 0.0
        """Part of the first pass that is the drafter's, and how it grows."""
        self.prefill_sequences = self.prefill_tokens = self.prefill_context = 0
        self.prefill_pairs = 0.0
        self.prefill_capped: Reads = ()
        """What the prompt chunks read and pair in the layers of each reach."""

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
    """Turn the state of a batch into the times of a leap."""

    __slots__ = ("_no_reads", "cost", "draft")

    def __init__(self, cost: ForwardPass, draft: DraftWork | None) -> None:
        self.cost, self.draft = cost, draft
        self._no_reads: Reads = ((0.0, 0.0),) * len(cost.reaches)

    def decode(self, batch: DecodeBatch, leap: Leap) -> None:
        """Price the coming passes of a batch that only decodes."""
        count, cost, read = len(batch.members), self.cost, batch.read
        leap.prefill_sequences = leap.prefill_tokens = leap.prefill_context = 0
        leap.prefill_pairs = leap.prefill_s = 0.0
        leap.prefill_capped = self._no_reads
        capped = batch.capped() if batch.reaches else ()
        leap.first_s = cost.seconds(
            count, batch.positions, batch.logit_positions, read, batch.pairs, capped=capped
        )
        leap.slope_s, leap.limit = cost.slope(batch.growths(), count)
        draft = self.draft
        if draft is not None:
            factor = draft.share * draft.passes_per_round
            own = tuple((read, read) for read, _ in capped)
            leap.draft_s = factor * cost.seconds(count, count, count, read, read, capped=own)
            slope_s, limit = cost.slope(_one_query_each(batch.growths()), count)
            leap.draft_slope_s = factor * slope_s
            leap.limit = min(leap.limit, limit)
            leap.first_s += leap.draft_s
            leap.slope_s += leap.draft_slope_s

    def mixed(self, batch: DecodeBatch, prefilling: Collection[Sequence], leap: Leap) -> None:
        """Price one pass that holds prompt chunks, and split it between input and output.

        The split is by the times that the prompt part and the decode part would take alone.
        """
        tokens = context = sequences = 0
        pairs = 0.0
        for sequence in prefilling:
            chunk, before = sequence.chunk, sequence.computed
            if chunk:  # each chunk reads what was computed before it, and itself
                sequences += 1
                tokens += chunk
                context += before + chunk
                pairs += chunk * before + chunk * (chunk + 1) / 2
        leap.prefill_sequences, leap.prefill_tokens = sequences, tokens
        leap.prefill_context, leap.prefill_pairs = context, pairs
        leap.slope_s, leap.limit, leap.draft_slope_s = 0.0, 1, 0.0
        leap.prefill_capped = self._prompt_reads(prefilling)
        prompt = PassLoad(
            *(0, 0, 0.0, 0.0, 0.0, sequences, tokens, context, pairs),
            self._no_reads,
            leap.prefill_capped,
        )
        count = len(batch.members)
        pass_s = prompt_s = self.cost.seconds(*prompt)
        decode_s, capped, read = 0.0, self._no_reads, batch.read
        if count:
            capped = batch.capped()
            decode = (count, batch.positions, batch.logit_positions, read, batch.pairs)
            decode_s = self.cost.seconds(*decode, capped=capped)
            pass_s = self.cost.seconds(*decode, *prompt[5:9], capped, leap.prefill_capped)
        if self.draft is not None:
            no_prompt = PassLoad(0, 0, 0.0, 0.0, 0.0, prefill_capped=self._no_reads)
            prompt_s += self._draft_s(self.draft, 0, 0.0, self._no_reads, prompt)
            decode_s += self._draft_s(self.draft, count, read, capped, no_prompt)
            leap.draft_s = self._draft_s(self.draft, count, read, capped, prompt)
            pass_s += leap.draft_s
        leap.first_s = pass_s
        leap.prefill_s = pass_s * prompt_s / (prompt_s + decode_s)

    def _prompt_reads(self, prefilling: Collection[Sequence]) -> Reads:
        """What the prompt chunks read and pair in the layers of each reach."""
        reads: list[tuple[float, float]] = []
        for tokens in self.cost.reaches:
            one = [prompt_reads(tokens, s.chunk, s.computed) for s in prefilling if s.chunk]
            reads.append((sum(read for read, _ in one), sum(pairs for _, pairs in one)))
        return tuple(reads)

    def _draft_s(
        self, draft: DraftWork, count: int, read: float, capped: Reads, prompt: PassLoad
    ) -> float:
        """Drafter passes of one pass: the first takes the prompts along, the others decode.

        A drafter pass has one query position a sequence, over the same KV.
        """
        if not count and not prompt.prefill_sequences:
            return 0.0
        own = tuple((tokens, tokens) for tokens, _ in capped)
        decode = (count, count, count, read, read)
        total = self.cost.seconds(*decode, *prompt[5:9], own, prompt.prefill_capped)
        if count and draft.passes_per_round > 1:
            alone_s = self.cost.seconds(*decode, capped=own)
            total += (draft.passes_per_round - 1) * alone_s
        return draft.share * total


def _one_query_each(
    growths: tuple[tuple[float, float, float, float], ...],
) -> tuple[tuple[float, float, float, float], ...]:
    """Return what a drafter reads: each pair is one token of KV."""
    return tuple((read, read, growth, growth) for read, _, growth, _ in growths)
