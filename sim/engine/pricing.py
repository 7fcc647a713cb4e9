"""The time of the coming pass or passes of a replica: served model plus drafter."""

from collections.abc import Sequence as Collection

from sim.cost import ForwardPass, Reads
from sim.engine.batch import DecodeBatch
from sim.engine.drafting import DraftPricer, Growths
from sim.engine.reach import prompt_reads
from sim.engine.sequence import Sequence

_MOST_PROMPTS = 1 << 16


class Leap:
    """Passes in flight: pass i of `passes` takes `first_s + i * slope_s`, for at most `limit`.

    One instance a replica, written anew for each leap.
    """

    __slots__ = (
        "draft_s",
        "draft_slope_s",
        "drafting",
        "first_s",
        "limit",
        "passes",
        "prefill_capped",
        "prefill_context",
        "prefill_pairs",
        "prefill_s",
        "prefill_sequences",
        "prefill_tokens",
        "slope_s",
        "start_s",
        "time_share",
        "verified",
    )

    def __init__(self, reaches: int) -> None:
        self.start_s = self.first_s = self.slope_s = 0.0
        self.limit = self.passes = 1
        self.prefill_s = 0.0
        """Part of the first pass that is billed to input tokens."""
        self.drafting, self.verified = True, 1.0
        """Under a policy: the drafter runs, and so much of the positions is verified."""
        self.time_share = 1.0
        """Under a policy: time of a pass without prompts over that of its mean positions."""
        self.draft_s = self.draft_slope_s = 0.0
        """Part of the first pass that is the drafter's, and how it grows."""
        self.prefill_sequences = self.prefill_tokens = self.prefill_context = 0
        self.prefill_pairs = 0.0
        self.prefill_capped: Reads = ((0.0, 0.0),) * reaches
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

    __slots__ = ("_no_reads", "_prompts", "cost", "drafter")

    def __init__(self, cost: ForwardPass, drafter: DraftPricer | None) -> None:
        self.cost, self.drafter = cost, drafter
        self._no_reads: Reads = ((0.0, 0.0),) * len(cost.reaches)
        self._prompts: dict[tuple[int, int], float] = {}
        """Times of passes with one chunk alone, by its tokens and those computed before it."""

    def decode(self, batch: DecodeBatch, leap: Leap) -> None:
        """Price the coming passes of a batch that only decodes."""
        if leap.prefill_tokens:
            leap.prefill_sequences = leap.prefill_tokens = leap.prefill_context = 0
            leap.prefill_pairs = leap.prefill_s = 0.0
            leap.prefill_capped = self._no_reads
        count, growths = len(batch.members), batch.growths()
        positions, logits, seen = batch.positions, batch.logit_positions, growths
        if leap.verified != 1.0:
            positions, logits, seen = _verified(leap.verified, positions, logits, growths)
        leap.first_s, leap.slope_s, leap.limit = self.cost.line(count, positions, logits, seen)
        if leap.time_share != 1.0:
            leap.first_s *= leap.time_share
            leap.slope_s *= leap.time_share
        drafter = self.drafter
        if drafter is not None and leap.drafting:
            leap.draft_s, leap.draft_slope_s, limit = drafter.line(count, growths)
            leap.first_s += leap.draft_s
            leap.slope_s += leap.draft_slope_s
            leap.limit = min(leap.limit, limit)

    def mixed(self, batch: DecodeBatch, prefilling: Collection[Sequence], leap: Leap) -> None:
        """Price one pass that holds prompt chunks, and split it between input and output.

        The split is by the times that the prompt part and the decode part would take alone;
        prompts that are computed once more after a preemption are billed to output.
        """
        tokens = context = sequences = again = before = 0
        pairs = 0.0
        for sequence in prefilling:
            chunk = sequence.chunk
            if chunk:  # each chunk reads what was computed before it, and itself
                before = sequence.computed
                sequences += 1
                tokens += chunk
                if sequence.preemptions:
                    again += chunk
                context += before + chunk
                pairs += chunk * before + chunk * (chunk + 1) / 2
        leap.prefill_sequences, leap.prefill_tokens = sequences, tokens
        leap.prefill_context, leap.prefill_pairs = context, pairs
        leap.slope_s, leap.limit, leap.draft_slope_s = 0.0, 1, 0.0
        cost, count, read = self.cost, len(batch.members), batch.read
        prompt_capped = self._prompt_reads(prefilling) if cost.reaches else ()
        leap.prefill_capped = prompt_capped
        prompt = (sequences, tokens, context, pairs)
        none = self._no_reads
        pass_s = prompt_s = self._alone_s(before, prompt, prompt_capped)
        decode_s, capped = 0.0, none
        if count:
            capped = batch.capped() if batch.reaches else ()
            share = leap.verified
            positions = batch.positions if share == 1.0 else round(share * batch.positions)
            logits = batch.logit_positions if share == 1.0 else float(positions)
            decode = (count, positions, logits, read, share * batch.pairs)
            made = capped if share == 1.0 else tuple((r, share * pairs) for r, pairs in capped)
            decode_s = cost.seconds(*decode, capped=made)
            pass_s = cost.seconds(*decode, *prompt, made, prompt_capped)
        drafter = self.drafter
        if drafter is not None and leap.drafting:
            prompt_draft_s, alone_s, together_s = drafter.mixed(
                count, read, capped, prompt, prompt_capped, prompt_s
            )
            leap.draft_s = together_s
            pass_s += together_s
            prompt_s += prompt_draft_s
            decode_s += alone_s
        leap.first_s = pass_s
        leap.prefill_s = pass_s * prompt_s / (prompt_s + decode_s)
        if again:
            leap.prefill_s *= 1.0 - again / tokens

    def _alone_s(
        self, before: int, prompt: tuple[int, int, int, float], prompt_capped: Reads
    ) -> float:
        """Return the time of a pass with the prompt chunks alone, s; of one chunk, remembered.

        `before` are the tokens that were computed before that one.
        """
        size = prompt[1], before
        known = self._prompts.get(size) if prompt[0] == 1 else None
        if known is None:
            none = self._no_reads
            known = self.cost.seconds(0, 0, 0.0, 0.0, 0.0, *prompt, none, prompt_capped)
            if prompt[0] == 1 and len(self._prompts) < _MOST_PROMPTS:
                self._prompts[size] = known
        return known

    def _prompt_reads(self, prefilling: Collection[Sequence]) -> Reads:
        """What the prompt chunks read and pair in the layers of each reach."""
        reads: list[tuple[float, float]] = []
        for tokens in self.cost.reaches:
            one = [prompt_reads(tokens, s.chunk, s.computed) for s in prefilling if s.chunk]
            reads.append((sum(read for read, _ in one), sum(pairs for _, pairs in one)))
        return tuple(reads)


def _verified(
    share: float, positions: int, logits: float, growths: Growths
) -> tuple[int, float, Growths]:
    """Return what a batch holds if a share of its positions is verified; KV is read all the same.

    Verification needs the logits of each of its positions.
    """
    held = round(share * positions)
    made = tuple((read, share * pairs, more, share * each) for read, pairs, more, each in growths)
    return held, float(held) if logits else 0.0, made
