"""The time of the coming pass or passes of a replica: served model plus drafter."""

from collections.abc import Sequence as Collection
from typing import NamedTuple

from sim.cost import ForwardPass, Line, PassLoad
from sim.decoding import DraftWork
from sim.engine.batch import DecodeBatch
from sim.engine.sequence import Sequence


class Priced(NamedTuple):
    """Times of the coming passes: pass i takes `first_s + i * slope_s`, for `passes` passes at most."""

    first_s: float
    slope_s: float
    passes: int
    load: PassLoad
    prefill_s: float
    """Part of the first pass that is billed to input tokens."""
    draft_s: float
    """Part of the first pass that is the drafter's."""
    draft_slope_s: float


class Pricer:
    """Turn the state of a batch into seconds."""

    __slots__ = ("cost", "draft")

    def __init__(self, cost: ForwardPass, draft: DraftWork | None) -> None:
        self.cost, self.draft = cost, draft

    def leap(self, batch: DecodeBatch) -> Priced:
        """Price the passes of a batch that only decodes."""
        load = _decode_load(batch)
        line = self.cost.line(load, batch.context_growth, batch.pairs_growth)
        if self.draft is None:
            return Priced(line.first_s, line.slope_s, line.passes, load, 0.0, 0.0, 0.0)
        draft = self._draft_line(load, batch.context_growth)
        return Priced(
            line.first_s + draft.first_s,
            line.slope_s + draft.slope_s,
            min(line.passes, draft.passes),
            load,
            0.0,
            draft.first_s,
            draft.slope_s,
        )

    def mixed(self, batch: DecodeBatch, prefilling: Collection[Sequence]) -> Priced:
        """Price one pass that holds prompt chunks, and split it between input and output.

        The split is by the times that the prompt part and the decode part would take alone.
        """
        prompt = _prefill_load(prefilling)
        prompt_s = self._pass_s(prompt)
        if not batch.members:
            draft_s = self._draft_s(prompt)
            return Priced(prompt_s, 0.0, 1, prompt, prompt_s, draft_s, 0.0)
        decode = _decode_load(batch)
        load = decode._replace(
            prefill_sequences=prompt.prefill_sequences,
            prefill_tokens=prompt.prefill_tokens,
            prefill_context_tokens=prompt.prefill_context_tokens,
            prefill_pairs=prompt.prefill_pairs,
        )
        pass_s, decode_s = self._pass_s(load), self._pass_s(decode)
        share = prompt_s / (prompt_s + decode_s)
        return Priced(pass_s, 0.0, 1, load, pass_s * share, self._draft_s(load), 0.0)

    def _pass_s(self, load: PassLoad) -> float:
        if self.draft is None:
            return self.cost.pass_s(load)
        return self.cost.pass_s(load) + self._draft_s(load)

    def _draft_s(self, load: PassLoad) -> float:
        """Drafter passes of one pass: the first takes the prompt chunks along, the others only decode."""
        draft = self.draft
        if draft is None:
            return 0.0
        own = _one_position_each(load)
        total = self.cost.pass_s(own)
        if load.sequences and draft.passes_per_round > 1:
            total += (draft.passes_per_round - 1) * self.cost.pass_s(_without_prefill(own))
        return draft.share * total

    def _draft_line(self, load: PassLoad, context_growth: float) -> Line:
        draft = self.draft
        if draft is None:  # pragma: no cover - asked for only where there is a drafter
            raise AssertionError
        factor = draft.share * draft.passes_per_round
        line = self.cost.line(_one_position_each(load), context_growth, context_growth)
        return Line(factor * line.first_s, factor * line.slope_s, line.passes)


def _decode_load(batch: DecodeBatch) -> PassLoad:
    return PassLoad(
        len(batch.members),
        batch.positions,
        batch.logit_positions,
        batch.context + batch.read_extra,
        batch.pairs + batch.pair_extra,
    )


def _prefill_load(prefilling: Collection[Sequence]) -> PassLoad:
    tokens = context = sequences = 0
    pairs = 0.0
    for sequence in prefilling:
        chunk, before = sequence.chunk, sequence.computed
        if chunk:
            sequences += 1
            tokens += chunk
            context += before + chunk
            pairs += chunk * before + chunk * (chunk + 1) / 2
    return PassLoad(0, 0, 0.0, 0.0, 0.0, sequences, tokens, float(context), pairs)


def _one_position_each(load: PassLoad) -> PassLoad:
    """Return the drafter's own pass: one query position a sequence over the same KV."""
    count = load.sequences
    return load._replace(positions=count, logit_positions=float(count), pairs=load.context_tokens)


def _without_prefill(load: PassLoad) -> PassLoad:
    return load._replace(
        prefill_sequences=0, prefill_tokens=0, prefill_context_tokens=0.0, prefill_pairs=0.0
    )
