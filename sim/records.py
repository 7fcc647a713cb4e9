"""Plain records that travel between the layers: columns of requests, in and out."""

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Status(IntEnum):
    """How a request ended; every request has exactly one."""

    FINISHED = 0
    REJECTED = 1
    """Refused on arrival: it could never fit (context length or KV pool)."""
    UNFINISHED = 2
    """Still waiting or running when the simulation stopped."""


_UNSET: IntArray = np.zeros(0, np.int64)
DEFAULT_CLASS = "default"
"""Name of the only class of a workload that has no others."""


def _zeros(rows: int) -> IntArray:
    """Return zeros that take no memory; read-only."""
    return np.broadcast_to(np.int64(0), rows)


@dataclass(frozen=True, slots=True)
class PrefixBlocks:
    """Which requests begin alike: names of the blocks of `block_tokens` tokens of each.

    Those of request i are `hashes[offsets[i] : offsets[i + 1]]`, from its first token on. Two
    requests share their first k blocks where their first k names are equal. A request may have
    fewer names than blocks (nobody shares the rest), or more than its prompt has (those of its
    answer, which the next turn of the session begins with, or of a last block that is not full).
    """

    offsets: IntArray
    """n + 1 places."""
    hashes: IntArray
    block_tokens: int

    def first(self, rows: int) -> "PrefixBlocks":
        """Return those of the first rows."""
        offsets = self.offsets[: rows + 1]
        return PrefixBlocks(offsets, self.hashes[: offsets[-1]], self.block_tokens)


@dataclass(frozen=True, slots=True)
class Turns:
    """Requests that follow each other: the rows of session s are `first[s]` to `first[s + 1]`.

    A row is sent `pause_s` [s] after the answer to the row before it. The first row of a session
    is sent at its `arrival_s` in an open loop; in a closed loop it is that of a user who has done
    with a session, `pause_s` after its last answer.
    """

    first: IntArray
    pause_s: FloatArray


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is asked of the deployment: one row a request, in order of arrival (or of issue).

    `arrival_s` [s] is non-decreasing for an open loop. In a closed loop (`users` is set) it is all
    zeros: each of the `users` issues its next request `think_s` after its last answer, taking the
    next row. Rows from `measured` on are background: they keep the deployment under load until
    the measured requests have finished, and are never counted. With `turns`, rows stand session by
    session, a row may be issued before one that stands above it, and the first `measured` that are
    issued are the measured ones.
    """

    arrival_s: FloatArray
    input_tokens: IntArray
    output_tokens: IntArray
    measured: int
    users: int | None = None
    think_s: float = 0.0
    steady_state: bool = False
    """True for synthetic open-loop arrivals of one rate: the warm-up is cut off (MSER-5)."""
    warmup: int | None = None
    """So many requests at the beginning are not counted; `None`: as `steady_state` says."""
    request_class: IntArray = field(default_factory=lambda: _UNSET)
    """Place in `class_names` of each row; all 0 where it is left out."""
    priority: IntArray = field(default_factory=lambda: _UNSET)
    """Of each row; lower is served first. All 0 where it is left out."""
    class_names: tuple[str, ...] = (DEFAULT_CLASS,)
    prefix_blocks: PrefixBlocks | None = None
    turns: Turns | None = None

    def __post_init__(self) -> None:
        for name in ("request_class", "priority"):
            if getattr(self, name) is _UNSET:
                object.__setattr__(self, name, _zeros(len(self)))

    def __len__(self) -> int:
        return len(self.input_tokens)


@dataclass(frozen=True, slots=True)
class RequestRecords:
    """What happened to each request: one row a request; times in simulated seconds, NaN = never.

    Times are those of the engine: `metrics` adds the request pipeline (network, gateway, …).
    """

    request_id: IntArray
    replica: IntArray
    arrival_s: FloatArray
    admitted_s: FloatArray
    first_token_s: FloatArray
    """First *visible* output token."""
    last_token_s: FloatArray
    input_tokens: IntArray
    cached_input_tokens: IntArray
    output_tokens: IntArray
    status: IntArray
    """Values of `Status`."""
    preemptions: IntArray
    chunks: IntArray
    """Visible chunks in which the answer arrived (autoregressive: one a token; all at once: 1)."""
    max_gap_s: FloatArray
    """Longest gap between two visible chunks; NaN where the answer came in one chunk."""
    request_class: IntArray = field(default_factory=lambda: _UNSET)
    """Place in `class_names` of the simulation; all 0 where it is left out."""

    def __post_init__(self) -> None:
        if self.request_class is _UNSET:
            object.__setattr__(self, "request_class", _zeros(len(self)))

    def __len__(self) -> int:
        return len(self.request_id)


@dataclass(frozen=True, slots=True)
class WeightedSamples:
    """A distribution as values [s] and how often each was seen."""

    values: FloatArray
    weights: FloatArray


@dataclass(frozen=True, slots=True)
class StepSeries:
    """A count over time: `count[i]` holds from `time_s[i]` until `time_s[i + 1]`."""

    time_s: FloatArray
    count: IntArray


@dataclass(frozen=True, slots=True)
class Leaps:
    """Every stretch of passes between two events of a replica: one row a leap, n rows in all.

    Pass i (from 0) of a leap takes `first_s + i * slope_s` seconds. Sums over the passes of the
    leap: `positions`, `logit_positions`, `context_tokens` (KV tokens read), `pairs` (query x
    context) and `kv_written`; `prefill_s` is the part of the leap's time that is billed to input
    tokens.
    """

    replica: IntArray
    start_s: FloatArray
    first_s: FloatArray
    slope_s: FloatArray
    passes: IntArray
    sequences: FloatArray
    """Sequences in each pass (decode and prefill)."""
    positions: FloatArray
    logit_positions: FloatArray
    context_tokens: FloatArray
    pairs: FloatArray
    kv_used_tokens: FloatArray
    """KV tokens held at the end of the leap (context of all resident sequences)."""
    prefill_s: FloatArray
    draft_s: FloatArray
    """Time of the drafter inside the leap."""
    capped: tuple[tuple[FloatArray, FloatArray], ...] = ()
    """KV tokens read and pairs in layers that look back only so far, by reach, nearest first."""

    @property
    def duration_s(self) -> FloatArray:
        """Time of each leap, s."""
        n = self.passes.astype(np.float64)
        return n * self.first_s + self.slope_s * n * (n - 1) / 2


def _no_stints() -> IntArray:
    return np.zeros((0, 6), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """What the front ends of the replicas had before them: a row each time passes begin."""

    replica: IntArray
    """As in `Leaps`."""
    time_s: FloatArray
    left_s: FloatArray
    """Work that is left of what was handed to them before."""
    work_s: FloatArray
    """Work that the passes bring."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """All that the engine saw; `metrics` and `economics` read it and nothing else."""

    records: RequestRecords
    """All simulated requests, measured first, background after."""
    measured: int
    steady_state: bool
    closed_loop: bool
    gaps: WeightedSamples
    """Gaps between visible chunks of the measured requests, pooled."""
    in_system: StepSeries
    """Requests inside the deployment, from engine events (all requests, background included)."""
    leaps: Leaps
    replicas: int
    kv_pool_tokens: int
    """KV tokens that fit into one replica."""
    kv_peak_share: float
    """Most KV blocks ever in use on one replica, as a share of its pool."""
    events: int
    """Engine events handled: leaps and arrivals."""
    lanes: int = 1
    """Lanes of each replica (attention-data ranks times microbatches), whose passes overlap: a row
    of `leaps` is of one of them, and its `replica` counts lanes.
    """
    prefix_cache: bool = False
    """Whether prompts could find a part of them in the KV pool."""
    rejections: tuple[tuple[str, int], ...] = ()
    """(reason, measured requests) of those that could never fit."""
    stints: IntArray = field(default_factory=_no_stints)
    """Decoding without a break, a row each: request, lane, first pass and end pass (counted on
    that lane, without the `standing`), passes per chunk, passes done before. More than one of a
    request: preempted.
    """
    standing: IntArray = field(default_factory=lambda: _UNSET)
    """Leaps (their places in `leaps`) of prompts only, in which the decode batch stands still."""
    warmup: int | None = None
    """So many of the measured requests are not counted; `None`: what the metrics find."""
    front_end: FrontEnd | None = None
    """`None`: tokens are seen when they are made."""
    class_names: tuple[str, ...] = (DEFAULT_CLASS,)
