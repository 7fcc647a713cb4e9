"""Time on the host: what a pass takes beside the GPU, in turn with it or at the same time."""

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil

from sim.hardware import EngineProfile

Size = tuple[int, float, int] | tuple[int, float, int, int]
"""Tokens, logits and states of a lane, and the tokens that its experts see if they are others."""


@dataclass(frozen=True, slots=True)
class HostTime:
    """Seconds of the host in one pass, by what the pass holds."""

    pass_s: float
    sequence_s: float
    prefill_pass_s: float
    prompt_s: float
    eager_s: float
    largest_graph: int
    """Tokens of the largest captured pass; beyond it `eager_s` is added. 0: no limit."""
    asynchronous: bool
    """A pass takes the longer of GPU and host, not their sum."""

    @classmethod
    def of(cls, engine: EngineProfile) -> "HostTime":
        """Return the host side of an engine."""
        return cls(
            engine.host_s_per_pass,
            engine.host_s_per_sequence,
            engine.host_s_per_prefill_pass,
            engine.host_s_per_prompt,
            engine.eager_host_s_per_pass,
            engine.graph_batch_sizes[-1] if engine.graph_batch_sizes else 0,
            engine.asynchronous,
        )

    @property
    def plain(self) -> bool:
        """Whether it is only a time per pass and per sequence on top of the GPU's."""
        more = self.prefill_pass_s or self.prompt_s or (self.eager_s and self.largest_graph)
        return not (more or self.asynchronous)

    def seconds(self, sequences: int, tokens: int, prompts: int) -> float:
        """Return the host's time in a pass of `tokens`, `prompts` of its `sequences` prompts."""
        total = self.pass_s + self.sequence_s * sequences
        if prompts:
            total += self.prefill_pass_s + self.prompt_s * prompts
        if 0 < self.largest_graph < tokens:
            total += self.eager_s
        return total

    def together(self, gpu_s: float, host_s: float) -> float:
        """Return the time of a pass from that of its two sides."""
        return max(gpu_s, host_s) if self.asynchronous else gpu_s + host_s

    def line(
        self, gpu: tuple[float, float, int], sequences: int, tokens: int
    ) -> tuple[float, float, int]:
        """Return time, slope and number of decode passes whose GPU side is a rising line.

        Where host and GPU go side by side, the pass takes the host's constant time until the GPU's
        line crosses it: a breakpoint.
        """
        first_s, slope_s, limit = gpu
        host_s = self.seconds(sequences, tokens, 0)
        if not self.asynchronous:
            return first_s + host_s, slope_s, limit
        if first_s >= host_s:
            return gpu
        if slope_s > 0.0:
            limit = min(limit, max(1, ceil((host_s - first_s) / slope_s)))
        return host_s, 0.0, limit


def padded(tokens: int, sizes: tuple[int, ...]) -> int:
    """Return the tokens of the smallest graph that holds a pass; beyond the largest, its own.

    >>> padded(5, (1, 4, 8)), padded(8, (1, 4, 8)), padded(9, (1, 4, 8)), padded(9, ())
    (8, 8, 9, 9)
    """
    place = bisect_left(sizes, tokens)
    return sizes[place] if tokens and place < len(sizes) else tokens


def on_graphs(size: Size, sizes: tuple[int, ...]) -> Size:
    """Return a size with its tokens filled up to those of a captured graph."""
    tokens, logits, held, *stage = size
    more = (padded(each, sizes) for each in stage)
    return (padded(tokens, sizes), logits, held, *more)  # type: ignore[return-value]
