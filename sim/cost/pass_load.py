"""What one pass holds: the counts that its time is worked out from."""

from typing import NamedTuple

Reads = tuple[tuple[float, float], ...]
"""(KV tokens read, pairs) in the layers of each reach."""


class PassLoad(NamedTuple):
    """What one pass of one replica holds, summed over its sequences."""

    sequences: int
    """Sequences that decode."""
    positions: int
    """Their query positions."""
    logit_positions: float
    """Those of them whose logits are needed."""
    context_tokens: float
    """KV tokens that they read in layers that look back all the way."""
    pairs: float
    """Their query x key pairs there."""
    prefill_sequences: int = 0
    prefill_tokens: int = 0
    prefill_context_tokens: float = 0.0
    """KV tokens that the prompt chunks read, their own included."""
    prefill_pairs: float = 0.0
    capped: Reads = ()
    """The same in layers that look back only so far, in the order of `ForwardPass.reaches`."""
    prefill_capped: Reads = ()

    @property
    def decoding(self) -> "PassLoad":
        """The same pass without its prompts."""
        return PassLoad(*self[:5], capped=self.capped)
