"""One line of a pass: what it does, how long it takes, and what bounds it."""

from dataclasses import dataclass
from typing import Literal

Bound = Literal["memory", "compute", "collective", "launch", "host"]


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of one pass on one rank; `count` alike ones follow each other."""

    name: str
    count: int
    flop: float
    """Of one."""
    bytes_moved: float
    """Of one: GPU memory traffic, or link traffic for a collective."""
    seconds: float
    """Of one."""
    bound: Bound

    @property
    def total_s(self) -> float:
        """Seconds of all of them."""
        return self.count * self.seconds


def bound_of(fixed_s: float, memory_s: float, compute_s: float) -> Bound:
    """Name the longest of the parts that make up an operation."""
    if fixed_s > max(memory_s, compute_s):
        return "launch"
    return "memory" if memory_s >= compute_s else "compute"
