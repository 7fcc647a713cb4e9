"""What a drafter keeps in the memory of the GPUs."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class DraftMemory:
    """What a drafter with layers of its own keeps on the GPU that holds most of it."""

    weight_bytes: float
    kv_bytes_per_token: float
    """In layers that keep all tokens."""
    window_bytes_per_token: tuple[tuple[int, float], ...] = ()
    """In layers that keep a window of so many tokens."""
    state_bytes_per_sequence: float = 0.0


class Extra(NamedTuple):
    """What the drafter adds: a share of the served model's own, or bytes."""

    share: float
    drafter: DraftMemory
