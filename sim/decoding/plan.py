"""What a strategy asks of the served model for one request: phases of like passes.

The convention that makes leaps exact: inside a phase every pass is alike. Where a strategy commits
tokens in bursts (a speculative round, a denoised block), a pass carries the *mean over the phase*,
so the KV grows by the same amount each pass. When the user sees a chunk is kept apart and exact.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sim.records import IntArray


class Phase(NamedTuple):
    """A run of like passes; figures are per pass, `kv` being the tokens in the KV cache so far."""

    passes: int
    positions: int
    """Query positions that go through the layers."""
    logit_positions: float
    """Positions whose logits are needed (LM head), mean over the phase."""
    kv_growth: float
    """Tokens that a pass commits to the KV cache, mean over the phase."""
    read_extra: float
    """KV tokens read beyond `kv`: the pass's own positions, less what is not yet committed
    on average.
    """
    pair_extra: float
    """Query x key pairs beyond `positions * kv`: those among the pass's own positions."""
    slots_extra: float
    """KV slots held beyond `kv` while the pass runs."""
    chunk_passes: int
    """Passes from one visible chunk to the next; a divisor of `passes`. It is 1 in every phase
    that goes on from a token of the prefill.
    """
    visible_tokens: int
    """Output tokens that the phase shows, in all; 0 where its passes show nothing."""

    @property
    def chunks(self) -> int:
        """Visible chunks of the phase."""
        return self.passes // self.chunk_passes if self.visible_tokens else 0


class Plan(NamedTuple):
    """The passes of one request."""

    prefill_tokens: int
    """Prompt tokens to compute before the first phase, in chunks of any size; 0 where there
    is no prefill.
    """
    prefill_yields: bool
    """The end of the prefill shows one token (and a recomputed prefill does the work of one
    pass).
    """
    phases: tuple[Phase, ...]

    @property
    def visible_tokens(self) -> int:
        """Output tokens shown, in all."""
        return int(self.prefill_yields) + sum(phase.visible_tokens for phase in self.phases)

    @property
    def chunks(self) -> int:
        """Visible chunks, in all."""
        chunks = int(self.prefill_yields)
        for phase in self.phases:
            chunks += phase.chunks
        return chunks

    @property
    def passes(self) -> int:
        """Passes after the prefill."""
        return sum(phase.passes for phase in self.phases)

    @property
    def peak_positions(self) -> int:
        """Most query positions that one of its passes needs at once."""
        most = 0
        for phase in self.phases:
            most = max(most, phase.positions)
        return most

    @property
    def peak_kv_tokens(self) -> float:
        """Most KV tokens that the request ever holds."""
        kv = peak = float(self.prefill_tokens)
        for phase in self.phases:
            end = kv + phase.kv_growth * phase.passes
            peak = max(peak, end - phase.kv_growth + phase.slots_extra)
            kv = end
        return peak


class DraftPass(NamedTuple):
    """Like passes of a drafter in one round; positions are per sequence."""

    times: int
    positions: int
    """Query positions that go through its layers."""
    logit_positions: int
    """Those of them whose logits it needs."""


@dataclass(frozen=True, slots=True)
class DraftWork:
    """What a drafter does for each pass of the served model: work, never seconds."""

    passes: tuple[DraftPass, ...]
    """In order; the first takes prompt chunks along."""
    share: float | None = None
    """Set for a drafter that is described by its work alone: FLOP and bytes of one of its passes
    over those of a pass of the served model at the same positions, 0..1. None: it has layers of
    its own."""
    prefills: bool = True
    """It goes through the prompt too, and keeps KV of it."""

    @property
    def passes_per_round(self) -> int:
        """Drafter passes for each pass of the served model."""
        return sum(each.times for each in self.passes)


class Strategy(Protocol):
    """A decoding strategy: frozen settings and pure functions; no clock, no GPU, no batch."""

    @property
    def name(self) -> str:
        """The strategy's id."""

    @property
    def draft_work(self) -> DraftWork | None:
        """Drafter work that goes with every pass, if any."""

    def draw_passes(self, output_tokens: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw how many passes each answer takes after its prefill; shape as `output_tokens`."""

    def plan(self, input_tokens: int, output_tokens: int, passes: int) -> Plan:
        """Lay out one request whose draw was `passes`."""

    def stretch(self, sequences: int) -> float:
        """Passes that so many sequences take together, over those of one: 1 unless they wait."""

    def mean_passes(self, output_tokens: float) -> float:
        """Passes after the prefill of an answer of this length, for closed forms."""


def typical_phase(strategy: Strategy, input_tokens: float, output_tokens: float) -> Phase:
    """Return the phase in which an answer of these (mean) lengths is decoded: the longest one.

    It is laid out with as many passes as such an answer takes in the long run.
    """
    answer = max(2, round(output_tokens))
    passes = max(1, round(strategy.mean_passes(answer)))
    phases = strategy.plan(max(1, round(input_tokens)), answer, passes).phases
    return max(phases, key=lambda phase: phase.passes)
