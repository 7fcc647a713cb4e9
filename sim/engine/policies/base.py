"""How a policy changes the passes of the requests in a batch."""

from math import floor
from typing import NamedTuple, Protocol

from sim.decoding import Phase, Plan, verifying
from sim.units import TOKEN_ROUNDING


class Mode(NamedTuple):
    """How every sequence of a batch decodes until the batch changes."""

    positions: int
    """Query positions of a sequence, at most: what the scheduler reserves."""
    accepted_share: float
    """Accepted drafts over those of full speculation, 0..1, on average."""
    verified_share: float
    """Positions that a pass holds over `positions` of each sequence, 0..1, on average."""
    drafting: bool
    """The drafter runs."""
    time_share: float = 1.0
    """Mean time of the passes over that of one with the mean of their positions: not 1 where the
    time is no straight line, as between two captured graphs. Of passes without prompts."""


class Policy(Protocol):
    """Decides whenever sequences have joined or left; pure, so that a leap may rely on it."""

    def mode(self, sequences: int, read_tokens: float) -> Mode:
        """Return how `sequences` decode that read `read_tokens` of KV in all."""


def adopt(mode: Mode, plan: Plan, phase: Phase, kv: float) -> Phase | None:
    """Return the rest of a request under a mode; None where it goes on as it does.

    The request was planned in one phase under full speculation. Under a mode a pass yields the
    target's own token and the mode's share of the drafts that this request accepts on average;
    what is left of the answer, from `kv` tokens on, takes so many more passes, to the nearest.
    """
    (full,) = plan.phases
    growth = full.kv_growth
    if mode.accepted_share != 1.0:
        growth = 1.0 + (growth - 1.0) * mode.accepted_share
    if growth == phase.kv_growth and mode.positions == phase.positions:
        return None
    left = plan.prefill_tokens + full.kv_growth * full.passes - kv
    passes = max(1, floor(left / growth + 0.5 + TOKEN_ROUNDING))
    return verifying(mode.positions, passes, growth * passes)
