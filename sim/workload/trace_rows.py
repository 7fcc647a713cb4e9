"""A recording in memory, whatever file it came from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.records import DEFAULT_CLASS, FloatArray, IntArray, PrefixBlocks


@dataclass(frozen=True, slots=True)
class TraceRows:
    """A trace in memory: read-only columns, one row a request; the first arrives at 0 s."""

    arrival_s: FloatArray
    input_tokens: IntArray
    output_tokens: IntArray
    prefix_blocks: PrefixBlocks | None = None
    request_class: IntArray | None = None
    """Place in `class_names` of each row; `None` where the trace knows no classes."""
    class_names: tuple[str, ...] = (DEFAULT_CLASS,)
    began_s: float = 0.0
    """Time of the first arrival as the file has it, where that is seconds."""

    def __len__(self) -> int:
        return len(self.arrival_s)

    def first(self, count: int | None) -> "TraceRows":
        """Return the first `count` rows (all rows where it is None)."""
        if count is None or count >= len(self):
            return self
        blocks, classes = self.prefix_blocks, self.request_class
        return TraceRows(
            self.arrival_s[:count],
            self.input_tokens[:count],
            self.output_tokens[:count],
            None if blocks is None else blocks.first(count),
            None if classes is None else classes[:count],
            self.class_names,
            self.began_s,
        )

    @property
    def classes(self) -> IntArray:
        """Place in `class_names` of each row."""
        classes = self.request_class
        return np.zeros(len(self), np.int64) if classes is None else classes

    @property
    def requests_per_s(self) -> float | None:
        """Mean rate, gaps / time between first and last arrival; None where no time passes."""
        span_s = float(self.arrival_s[-1])
        return (len(self) - 1) / span_s if span_s > 0 else None


def numbered(names: Sequence[str]) -> tuple[IntArray, tuple[str, ...]]:
    """Return the place of each name among those that occur, and these in order of appearance."""
    known = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return np.array([known[name] for name in names], np.int64), tuple(known)
