"""The time that a drafter adds to a pass of the served model."""

from sim.cost import NO_LIMIT, ForwardPass, Reads, quick_pass
from sim.decoding import DraftWork

Growths = tuple[tuple[float, float, float, float], ...]
Line = tuple[float, float, int]
Prompts = tuple[int, int, int, float]
"""Chunks, their tokens, the KV tokens that they read, their pairs."""


class DraftPricer:
    """Price the passes of a drafter over the batch of the served model.

    Each of its passes reads the KV of every sequence once, and pairs each of its positions with
    all of it.
    """

    __slots__ = ("_none", "cost", "factor", "quick", "work")

    def __init__(self, work: DraftWork, cost: ForwardPass, draft_cost: ForwardPass | None) -> None:
        """Price with `draft_cost`, or as a share of the served model's `cost`."""
        self.work = work
        if work.share is None:
            if draft_cost is None or draft_cost.reaches != cost.reaches:
                raise ValueError(
                    "a drafter with layers of its own needs a cost over the same sums"
                )
            self.cost, self.factor = draft_cost, 1.0
        else:
            self.cost, self.factor = cost, work.share
        self._none: Reads = ((0.0, 0.0),) * len(cost.reaches)
        self.quick = quick_pass(self.cost)

    def line(self, count: int, growths: Growths) -> Line:
        """Return the time of a round's drafts [s], what each later one adds to it, for how many.

        `growths` is what the batch reads, as `ForwardPass.line` takes it.
        """
        first_s = slope_s = 0.0
        most = NO_LIMIT
        for times, positions, logits in self.work.passes:
            own = tuple((r, positions * r, more, positions * more) for r, _, more, _ in growths)
            one_s, slope, limit = self.cost.line(count, count * positions, count * logits, own)
            factor = self.factor * times
            first_s += factor * one_s
            slope_s += factor * slope
            most = min(most, limit)
        return first_s, slope_s, most

    def line_of(self, count: int, read: float, growth: float) -> Line:
        """Return the same where all layers look back all the way: of the KV read, its growth."""
        if self.quick is None:
            return self.line(count, ((read, 0.0, growth, 0.0),))
        first_s = slope_s = 0.0
        most, line = NO_LIMIT, self.quick.line
        for times, positions, logits in self.work.passes:
            held, drawn = count * positions, count * logits
            pairs, more = positions * read, positions * growth
            one_s, slope, limit = line(count, held, drawn, read, pairs, growth, more)
            factor = self.factor * times
            first_s += factor * one_s
            slope_s += factor * slope
            most = limit if limit < most else most  # noqa: FURB136  # hot
        return first_s, slope_s, most

    def round_s(self, count: int, read: float, capped: Reads = ()) -> float:
        """Return the time of all drafts of one round, s."""
        return sum(
            self.factor * times * self._one_s(count, positions, logits, read, capped)
            for times, positions, logits in self.work.passes
        )

    def mixed(  # noqa: PLR0917  # called per pass: positional is faster
        self,
        count: int,
        read: float,
        capped: Reads,
        prompts: Prompts,
        prompt_capped: Reads,
        target_s: float,
    ) -> tuple[float, float, float]:
        """Return the times for the prompt chunks alone, for the batch alone, and for both, s.

        The first pass takes the prompts along, the others only draft. `target_s` is what the
        served model takes for the prompts alone.
        """
        if not self.work.prefills:
            alone_s = self.round_s(count, read, capped) if count else 0.0
            return 0.0, alone_s, alone_s
        factor = self.factor
        first = self._first(count, read, capped, prompts, prompt_capped, target_s)
        together_s, prompt_s, one_s = factor * first[0], factor * first[1], factor * first[2]
        if not count:
            return prompt_s, 0.0, prompt_s
        (times, _, _), *others = self.work.passes
        alone_s, more_s = times * one_s, (times - 1) * one_s
        for times, positions, logits in others:
            one_s = factor * self._one_s(count, positions, logits, read, capped)
            alone_s += times * one_s
            more_s += times * one_s
        return prompt_s, alone_s, together_s + more_s

    def _first(  # noqa: PLR0917  # called per pass: positional is faster
        self,
        count: int,
        read: float,
        capped: Reads,
        prompts: Prompts,
        prompt_capped: Reads,
        target_s: float,
    ) -> tuple[float, float, float]:
        """Return the times of the first pass, of its prompts alone and of its batch alone, s."""
        _, positions, logits = self.work.passes[0]
        own = count, count * positions, count * logits, read, positions * read
        if self.quick is not None:
            return self.quick.mixed(*own, *prompts)
        prompt_s, seconds = target_s, self.cost.seconds
        if self.work.share is None:
            prompt_s = seconds(0, 0, 0.0, 0.0, 0.0, *prompts, self._none, prompt_capped)
        if not count:
            return prompt_s, prompt_s, 0.0
        own_capped = tuple((tokens, positions * tokens) for tokens, _ in capped)
        together_s = seconds(*own, *prompts, own_capped, prompt_capped)
        return together_s, prompt_s, seconds(*own, capped=own_capped)

    def _one_s(self, count: int, positions: int, logits: int, read: float, capped: Reads) -> float:
        own = (count, count * positions, count * logits, read, positions * read)
        if not capped:
            return self.cost.seconds(*own)
        own_capped = tuple((tokens, positions * tokens) for tokens, _ in capped)
        return self.cost.seconds(*own, capped=own_capped)


def draft_pricer(
    work: DraftWork | None, cost: ForwardPass, draft_cost: ForwardPass | None
) -> DraftPricer | None:
    """Return the pricing of a drafter; None where there is none on the GPU."""
    return None if work is None else DraftPricer(work, cost, draft_cost)
