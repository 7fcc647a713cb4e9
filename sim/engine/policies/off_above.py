"""Speculation that is switched off while many sequences decode."""

from sim.decoding import OffAbove
from sim.engine.policies.base import Mode

OFF = Mode(positions=1, accepted_share=0.0, verified_share=1.0, drafting=False)
"""One token a pass. The drafter is not run, and what it misses costs nothing later."""


class OffAboveBatch:
    """Full speculation up to so many sequences, and where the token budget holds all drafts."""

    def __init__(self, settings: OffAbove, positions: int, max_batched_tokens: int) -> None:
        self._most = min(settings.sequences, max_batched_tokens // positions)
        self._full = Mode(positions, accepted_share=1.0, verified_share=1.0, drafting=True)

    def mode(self, sequences: int, read_tokens: float) -> Mode:  # noqa: ARG002
        """Return full speculation or none."""
        return self._full if sequences <= self._most else OFF
