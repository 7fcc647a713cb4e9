"""What a serving engine does beside batching: how it takes requests in and hands answers out."""

from dataclasses import dataclass
from math import ceil

from sim.decoding import Phase, Plan
from sim.units import TOKEN_ROUNDING


@dataclass(frozen=True, slots=True)
class Habits:
    """Habits of each replica; the defaults are none at all."""

    ingress_s: float = 0.0
    """From a request's arrival until the engine sees it."""
    ingress_s_per_token: float = 0.0
    """More of it for each token of the prompt, which is tokenised first, one after another."""
    pick_up_passes: int = 0
    """A prompt that comes while passes run is seen only after so many more of them."""
    pick_up_every_passes: int = 1
    """The engine looks for prompts only after so many passes without any, and after each with."""
    hold_passes: int = 0
    """While others decode, prompts are held for up to so many passes, to batch them."""
    hold_token_share: float = 1.0
    """Tokens waiting and decoding, as a share of the budget, from which nothing is held."""
    whole_answer: bool = False
    """KV blocks are taken for the whole answer when a request is admitted."""
    stream_interval_tokens: int = 1
    """An answer is handed out every so many tokens, and at its end."""
    stream_first_token: bool = False
    """With an interval: the first token is handed out at once, alone."""
    front_end_s_per_chunk: float = 0.0
    """Time that one process needs to hand out a chunk; it serves all users of the replica."""

    @property
    def picks_up(self) -> bool:
        """Whether prompts wait to be seen by the engine."""
        return self.pick_up_passes > 0 or self.pick_up_every_passes > 1

    @property
    def ingress(self) -> bool:
        """Whether the engine sees requests later than they arrive."""
        return self.ingress_s > 0.0 or self.ingress_s_per_token > 0.0

    @property
    def shows_late(self) -> bool:
        """Whether users see tokens otherwise than at the end of the pass that made them."""
        return self.stream_interval_tokens > 1 or self.front_end_s_per_chunk > 0.0

    def chunk_passes(self, phase: Phase) -> int:
        """Return the passes from one chunk that is handed out to the next.

        A chunk holds at least `stream_interval_tokens`, counted as the mean over the phase.
        """
        every = phase.chunk_passes
        if self.stream_interval_tokens == 1 or not phase.visible_tokens:
            return every
        tokens = phase.visible_tokens / phase.passes * every
        return every * max(1, ceil(self.stream_interval_tokens / tokens - TOKEN_ROUNDING))

    def holds_first(self, plan: Plan) -> bool:
        """Tell whether the token of the prefill is held back and counts towards a chunk."""
        if not plan.prefill_yields or not plan.phases or self.stream_first_token:
            return False
        return self.chunk_passes(plan.phases[0]) > 1

    def passes_ahead(self, phase: Phase, held_tokens: float) -> int:
        """Return the passes of a phase that tokens held back before it stand for.

        Its first chunk comes so many passes earlier, with the tokens that the chunk still lacks.
        """
        if not held_tokens or not phase.visible_tokens:
            return 0
        lacking = (self.stream_interval_tokens - held_tokens) * phase.passes / phase.visible_tokens
        return self.chunk_passes(phase) - max(1, ceil(lacking - TOKEN_ROUNDING))

    def phase_chunks(self, phase: Phase, held_tokens: float) -> int:
        """Return the chunks that a phase hands out, the last with whatever is left."""
        if not phase.visible_tokens:
            return 0
        passes = phase.passes + self.passes_ahead(phase, held_tokens)
        return ceil(passes / self.chunk_passes(phase))

    def chunks(self, plan: Plan) -> int:
        """Return the chunks in which an answer is handed out."""
        if self.stream_interval_tokens == 1:
            return plan.chunks
        held = float(self.holds_first(plan))
        count = int(plan.prefill_yields) - int(held)
        for phase in plan.phases:
            count += self.phase_chunks(phase, held)
            held = 0.0
        return count
