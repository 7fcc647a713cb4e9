"""One line of a pass: what it does, how long it takes, and what bounds it."""

from dataclasses import dataclass
from typing import Literal

Bound = Literal["memory", "compute", "collective", "launch", "host"]
Kind = Literal["kernel", "collective", "host"]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of one pass on one rank; all figures are of one of `count` alike."""

    name: str
    count: int
    seconds: float
    flop: float = 0.0
    bytes_moved: float = 0.0
    """GPU memory traffic, or the tensor's size for a collective."""
    activation_bytes: float = 0.0
    """Of those, inputs and outputs: neither weights nor KV."""
    fixed_s: float = 0.0
    """Launch, latency or other time that does not depend on the work."""
    memory_s: float = 0.0
    """Time of the bytes alone at the fitted bandwidth."""
    compute_s: float = 0.0
    """Time of the FLOP alone at the fitted rate."""
    peak_flop_per_s: float = 1.0
    """Dense peak of the format that it multiplies in."""
    kind: Kind = "kernel"

    @property
    def total_s(self) -> float:
        """Seconds of all of them."""
        return self.count * self.seconds

    @property
    def bound(self) -> Bound:
        """The longest of the parts."""
        if self.kind != "kernel":
            return self.kind
        if self.fixed_s > max(self.memory_s, self.compute_s):
            return "launch"
        return "memory" if self.memory_s >= self.compute_s else "compute"
