"""Time on the host: what a pass takes beside the GPU, in turn with it or at the same time."""

from bisect import bisect_left
from dataclasses import dataclass
from math import ceil

from sim.cost.launches import NO_LAUNCHES, Launches
from sim.cost.operation import Operation
from sim.hardware import EngineProfile

Size = tuple[int, float, int] | tuple[int, float, int, int]
"""Tokens, logits and states of a lane, and the tokens that its experts see if they are others."""


@dataclass(frozen=True, slots=True)
class HostTime:
    """Seconds of the host in one pass, by what the pass holds.

    `tokens` are those of one lane, as a graph holds the pass of one rank and microbatch.
    """

    pass_s: float
    sequence_s: float
    prefill_pass_s: float
    prompt_s: float
    eager_s: float
    largest_graph: int | None
    """Tokens of the largest captured pass; beyond it `eager_s` is added. 0: none is captured.
    None: no limit."""
    asynchronous: bool
    """A pass takes the longer of GPU and host, not their sum."""

    launch_s: float = 0.0
    """Per kernel that the host starts where no graph holds the pass."""
    launches: Launches = NO_LAUNCHES

    @classmethod
    def of(cls, engine: EngineProfile, launches: Launches = NO_LAUNCHES) -> "HostTime":
        """Return the host side of an engine, for a model whose passes start so many kernels."""
        return cls(
            engine.host_s_per_pass,
            engine.host_s_per_sequence,
            engine.host_s_per_prefill_pass,
            engine.host_s_per_prompt,
            engine.eager_host_s_per_pass,
            engine.graph_batch_sizes[-1] if engine.graph_batch_sizes else None,
            engine.asynchronous,
            engine.host_s_per_launch,
            launches,
        )

    @property
    def plain(self) -> bool:
        """Whether it is only a time per pass and per sequence on top of the GPU's."""
        more = (
            self.prefill_pass_s
            or self.prompt_s
            or (self.eager_s and self.largest_graph is not None)
        )
        return not (more or self.asynchronous or self.launch_s)

    def seconds(self, sequences: int, tokens: int, prompts: int) -> float:
        """Return the host's time in a pass of `tokens`, `prompts` of its `sequences` prompts.

        Launches are not in it.
        """
        total = self.pass_s + self.sequence_s * sequences
        if prompts:
            total += self.prefill_pass_s + self.prompt_s * prompts
        if self.largest_graph is not None and tokens > self.largest_graph:
            total += self.eager_s
        return total

    def launching_s(self, sequences: int, tokens: int, prompts: int) -> float:
        """Return the time that the host takes to start all kernels of a pass; 0 from a graph.

        Graphs hold passes up to the largest captured size; where no sizes are given, all decode
        passes and none with prompts.
        """
        graph = self.largest_graph
        if not self.launch_s or (not prompts if graph is None else tokens <= graph):
            return 0.0
        return self.launch_s * self.launches.count(sequences - prompts, prompts)

    def sides(self, sequences: int, tokens: int, prompts: int) -> tuple[float, float]:
        """Return what the host does while the GPU works, and what it does in turn with it, s.

        Kernels are started while the GPU works on those before; one thread prepares passes and
        starts kernels, so that beside the GPU its times add up.
        """
        host_s = self.seconds(sequences, tokens, prompts)
        launch_s = self.launching_s(sequences, tokens, prompts)
        return (host_s + launch_s, 0.0) if self.asynchronous else (launch_s, host_s)

    def together(self, gpu_s: float, sequences: int, tokens: int, prompts: int) -> float:
        """Return the time of a pass from that of its GPU side."""
        beside_s, after_s = self.sides(sequences, tokens, prompts)
        return (gpu_s if gpu_s >= beside_s else beside_s) + after_s  # noqa: FURB136  # hot

    def line(
        self, gpu: tuple[float, float, int], sequences: int, tokens: int
    ) -> tuple[float, float, int]:
        """Return time, slope and number of decode passes whose GPU side is a rising line.

        Where host and GPU go side by side, the pass takes the host's constant time until the GPU's
        line crosses it: a breakpoint.
        """
        first_s, slope_s, limit = gpu
        beside_s, after_s = self.sides(sequences, tokens, 0)
        if first_s >= beside_s:
            return first_s + after_s, slope_s, limit
        if slope_s > 0.0:
            limit = min(limit, max(1, ceil((beside_s - first_s) / slope_s)))
        return beside_s + after_s, 0.0, limit

    def operations(
        self, gpu_s: float, sequences: int, tokens: int, prompts: int
    ) -> list[Operation]:
        """Return the time that the host adds to that of the GPU, as lines of a pass."""
        held = sequences, tokens, prompts
        host_s = self.seconds(*held)
        shown_s = max(0.0, host_s - gpu_s) if self.asynchronous else host_s
        launch_s, (beside_s, _) = self.launching_s(*held), self.sides(*held)
        waits_s = min(launch_s, max(0.0, beside_s - gpu_s))
        return [
            Operation(name, 1, seconds, kind="host")
            for name, seconds in (("host", shown_s), ("wait for launches", waits_s))
            if seconds > 0.0
        ]


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
