"""The time of the coming pass or passes of a replica: served model plus drafter."""

from collections.abc import Sequence as Collection

from sim.cost import ForwardPass, Reads, quick_pass
from sim.engine.batch import DecodeBatch
from sim.engine.drafting import DraftPricer, Growths
from sim.engine.reach import prompt_reads
from sim.engine.sequence import Sequence

_MOST_PROMPTS = 1 << 16
Decode = tuple[int, int, float, float, float]
Prompt = tuple[int, int, int, float]
"""The fields of a `PassLoad` for the decode part, and for the prompts."""


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
        "prefill_held",
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
        self.prefill_held = 0
        """KV tokens of all that prefill, of those too that have no chunk in the pass."""
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
        return self.cut_at(elapsed_s, most)[0]

    def cut_at(self, elapsed_s: float, most: int) -> tuple[int, float]:
        """Return the same, and when that pass ends, s from the start of the leap."""
        return cut_at(self.first_s, self.slope_s, elapsed_s, most)


def cut_at(first_s: float, slope_s: float, elapsed_s: float, most: int) -> tuple[int, float]:
    """Return the number of the pass in flight after `elapsed_s` and when it ends (see `Leap`)."""
    if slope_s == 0.0:
        over = int(elapsed_s / first_s)
    else:  # the root of first n + slope n (n - 1) / 2 = elapsed
        half = first_s / slope_s - 0.5
        over = int((half * half + 2 * elapsed_s / slope_s) ** 0.5 - half)
    number = most if over >= most else over + 1 if over > 0 else 1
    while number > 1:
        before = number - 1
        if before * first_s + slope_s * (before * (before - 1) / 2) <= elapsed_s:
            break
        number = before
    ends_s = number * first_s + slope_s * (number * (number - 1) / 2)
    while number < most and ends_s <= elapsed_s:
        number += 1
        ends_s = number * first_s + slope_s * (number * (number - 1) / 2)
    return number, ends_s


class Pricer:
    """Turn the state of a batch into the times of a leap."""

    __slots__ = ("_no_reads", "_prompts", "cost", "drafter", "quick")

    def __init__(self, cost: ForwardPass, drafter: DraftPricer | None) -> None:
        self.cost, self.drafter, self.quick = cost, drafter, quick_pass(cost)
        self._no_reads: Reads = ((0.0, 0.0),) * len(cost.reaches)
        self._prompts: dict[tuple[int, int], float] = {}
        """Times of passes with one chunk alone, by its tokens and those that it reads."""

    def decode(self, batch: DecodeBatch, leap: Leap) -> None:
        """Price the coming passes of a batch that only decodes."""
        if leap.prefill_held:
            leap.prefill_sequences = leap.prefill_tokens = leap.prefill_context = 0
            leap.prefill_held = 0
            leap.prefill_pairs = leap.prefill_s = 0.0
            leap.prefill_capped = self._no_reads
        count, quick, drafter = len(batch.members), self.quick, self.drafter
        positions, logits = batch.positions, batch.logit_positions
        if quick is not None and leap.verified == 1.0:
            read, pairs, growth = batch.read, batch.pairs, batch.growth
            line = quick.line(count, positions, logits, read, pairs, growth, batch.pairs_growth)
            leap.first_s, leap.slope_s, leap.limit = line
        else:
            seen = batch.growths()
            if leap.verified != 1.0:
                positions, logits, seen = _verified(leap.verified, positions, logits, seen)
            line = self.cost.line(count, positions, logits, seen)
            leap.first_s, leap.slope_s, leap.limit = line
            leap.first_s *= leap.time_share
            leap.slope_s *= leap.time_share
        if drafter is not None and leap.drafting:
            if batch.reaches:
                drafts = drafter.line(count, batch.growths())
            else:
                drafts = drafter.line_of(count, batch.read, batch.growth)
            leap.draft_s, leap.draft_slope_s, limit = drafts
            leap.first_s += leap.draft_s
            leap.slope_s += leap.draft_slope_s
            leap.limit = min(leap.limit, limit)

    def mixed(self, batch: DecodeBatch, prefilling: Collection[Sequence], leap: Leap) -> None:
        """Price one pass that holds prompt chunks, and split it between input and output."""
        sequences, tokens, context, pairs, again, held = chunks_of(prefilling)
        leap.prefill_sequences, leap.prefill_tokens = sequences, tokens
        leap.prefill_context, leap.prefill_pairs, leap.prefill_held = context, pairs, held
        leap.slope_s, leap.limit, leap.draft_slope_s = 0.0, 1, 0.0
        count, read, share, quick = len(batch.members), batch.read, leap.verified, self.quick
        positions = batch.positions if share == 1.0 else round(share * batch.positions)
        logits = batch.logit_positions if share == 1.0 else float(positions)
        made = batch.pairs if share == 1.0 else share * batch.pairs
        capped: Reads = ()
        prompt_capped: Reads = ()
        if quick is not None:
            pass_s, prompt_s, decode_s = quick.mixed(
                count, positions, logits, read, made, sequences, tokens, context, pairs
            )
        else:
            prompt = sequences, tokens, context, pairs
            if batch.reaches:
                capped, prompt_capped = batch.capped(), self._prompt_reads(prefilling)
                leap.prefill_capped = prompt_capped
            decode = count, positions, logits, read, made
            seen = capped if share == 1.0 else tuple((r, share * each) for r, each in capped)
            pass_s, prompt_s, decode_s = self._apart(decode, prompt, seen, prompt_capped)
        drafter = self.drafter
        if drafter is not None and leap.drafting:
            prompt = sequences, tokens, context, pairs
            prompt_draft_s, alone_s, together_s = drafter.mixed(
                count, read, capped, prompt, prompt_capped, prompt_s
            )
            leap.draft_s = together_s
            pass_s += together_s
            prompt_s += prompt_draft_s
            decode_s += alone_s
        leap.first_s = pass_s
        leap.prefill_s = billed_to_input(pass_s, prompt_s, decode_s, again, tokens)

    def _apart(
        self, decode: Decode, prompt: Prompt, capped: Reads, prompt_capped: Reads
    ) -> tuple[float, float, float]:
        """Return the times of a pass, of its prompts alone and of its decode part alone, s."""
        prompt_s = self._alone_s(prompt, prompt_capped)
        if not decode[0]:
            return prompt_s, prompt_s, 0.0
        pass_s = self.cost.seconds(*decode, *prompt, capped, prompt_capped)
        return pass_s, prompt_s, self.cost.seconds(*decode, capped=capped)

    def _alone_s(self, prompt: Prompt, prompt_capped: Reads) -> float:
        """Return the time of a pass with the prompt chunks alone, s; of one chunk, remembered."""
        size = prompt[1:3]
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


def billed_to_input(
    pass_s: float, prompt_s: float, decode_s: float, again: int, tokens: int
) -> float:
    """Return the part of a pass that is billed to input, s.

    By the times that its prompts and its decode part would take alone; prompt tokens that are
    computed `again` after a preemption are billed to output.
    """
    share_s = pass_s * prompt_s / (prompt_s + decode_s)
    return share_s * (1.0 - again / tokens) if again else share_s


def chunks_of(prefilling: Collection[Sequence]) -> tuple[int, int, int, float, int, int]:
    """Return what the prompt chunks of a pass hold, and the KV tokens of all that prefill.

    The four prompt fields of a `PassLoad`; the tokens that are computed once more; and KV tokens
    with those of sequences that have no chunk in the pass.
    """
    sequences = tokens = context = again = idle = 0
    pairs = 0.0
    for sequence in prefilling:
        chunk, before = sequence.chunk, sequence.computed
        if chunk:  # each chunk reads what was computed before it, and itself
            sequences += 1
            tokens += chunk
            if sequence.preemptions:
                again += chunk
            context += before + chunk
            pairs += chunk * before + chunk * (chunk + 1) / 2
        else:
            idle += before
    return sequences, tokens, context, pairs, again, context + idle


def _verified(
    share: float, positions: int, logits: float, growths: Growths
) -> tuple[int, float, Growths]:
    """Return what a batch holds if a share of its positions is verified; KV is read all the same.

    Verification needs the logits of each of its positions.
    """
    held = round(share * positions)
    made = tuple((read, share * pairs, more, share * each) for read, pairs, more, each in growths)
    return held, float(held) if logits else 0.0, made
