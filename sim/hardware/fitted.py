"""What a GPU's kernels reach of its peaks: few, physical numbers, each within its bounds.

P is the dense peak in FLOP/s of the format that the product runs in, BW the memory bandwidth in
B/s, F the work in FLOP, B the bytes moved, n the ranks of a collective.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, field_validator

from sim.hardware.evidence import Evidence
from sim.hardware.profile import AsOf, NotNegative, Source, check_source
from sim.hardware.residual import ExpertShapes, Residual
from sim.precision import Precision

Efficiency = Annotated[float, Gt(0), Le(1)]
"""Share of a peak that is reached."""
Norm = Annotated[float, Ge(1), Field(allow_inf_nan=False)]
Origin = Literal["calibrated", "assumed", "measured"]
"""measured: on the user's own GPU; calibrated: fitted elsewhere; assumed: neither."""


class Frozen(BaseModel):
    """Base of the fits and of their files."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Fit(Frozen):
    """What every fit has: its fixed time, and the evidence for it."""

    fixed_s: NotNegative
    evidence: Evidence | None = None
    """None: set by hand."""


class GemmFit(Fit):
    """t = fixed + ((F / (flop_efficiency P))^p + (B / (bandwidth_efficiency BW))^p)^(1/p).

    Where the kernel quantises its activations itself (bytes w per input element), it also takes
    M K (2 + w) / (quantise_bandwidth_efficiency BW) + per_inner K + per_token M.
    """

    flop_efficiency: Efficiency
    bandwidth_efficiency: Efficiency
    p: Norm
    """Sharpness of the ridge: 1 adds the two times, infinity takes the larger."""
    quantise_bandwidth_efficiency: Efficiency | None = None
    per_inner_s: NotNegative = 0.0
    per_token_s: NotNegative = 0.0
    served_fixed_s: NotNegative | None = None
    """What a captured pass pays in place of `fixed` and `per_inner`: there a kernel starts while
    the one before ends, and quantising is part of the kernel before. None: all of it."""
    residual: Residual | None = None
    """Over tokens, outer and inner."""


class ExpertsFit(Fit):
    """t = fixed + ((B / (bandwidth_efficiency BW))^p + (F / (flop_efficiency P))^p)^(1/p).

    B are the weights of the experts that are hit, F the work of all routed tokens. With p = 1 the
    two times add up: a small group of tokens per expert reads and multiplies one after the other.
    Routing that is not even belongs to F and B of the slowest rank, not here.
    """

    bandwidth_efficiency: Efficiency
    flop_efficiency: Efficiency
    p: Norm = 1.0
    computed: Precision | None = None
    """Format whose peak is P; None: the one in which the cost model multiplies."""
    residual: ExpertShapes | None = None


class DecodeAttentionFit(Fit):
    """t = fixed + per_item n + max(KV bytes / (bandwidth_efficiency BW), F / (flop_efficiency P)).

    n: sequences x KV heads, the pieces of work into which a kernel splits a batch.
    """

    bandwidth_efficiency: Efficiency
    flop_efficiency: Efficiency
    """Binds with many query positions per sequence (verification, diffusion blocks) and with
    latent attention, where all heads share one key."""
    per_item_s: NotNegative = 0.0
    computed: Precision = "bf16"
    """Format whose peak is P."""
    residual: Residual | None = None
    """Over items, heads_per_kv and head_dim: nothing that grows with the context."""


class PrefillAttentionFit(Fit):
    """t = fixed + ((F / (flop_efficiency P))^p + (B / (bandwidth_efficiency BW))^p)^(1/p).

    B: KV read, queries and outputs; without a bandwidth of its own, KV read alone.
    """

    flop_efficiency: Efficiency
    bandwidth_efficiency: Efficiency | None = None
    """None: that of decode attention."""
    p: Norm | None = None
    """None: the longer of the two times."""
    computed: Precision = "bf16"
    """Format whose peak is P."""
    residual: Residual | None = None
    """Over query_tokens (of one sequence), items, heads_per_kv and head_dim: nothing that grows
    with the context."""


class CollectiveFit(Fit):
    """t = fixed + per_extra_rank (n - 2) + share bytes / (bandwidth_efficiency link).

    The share of the tensor that each rank sends: 2 (n - 1) / n for an all-reduce, (n - 1) / n for
    the others, 1 from point to point. `bytes` is the whole tensor of one rank (all-gather: the
    gathered one).
    """

    per_extra_rank_s: NotNegative
    bandwidth_efficiency: Efficiency
    """Share of the one-way bandwidth: of the link inside a node, of the network between nodes."""
    residual: Residual | None = None
    """Over ranks and bytes."""


AllReduceFit = CollectiveFit


class Collectives(Frozen):
    """One fit for each way to exchange data."""

    all_reduce: CollectiveFit
    all_gather: CollectiveFit
    reduce_scatter: CollectiveFit
    all_to_all: CollectiveFit
    """Dispatch or combine of expert parallelism."""
    point_to_point: CollectiveFit
    """From one pipeline stage to the next."""


class Own(Frozen):
    """What a file of the user's own says of the parts that it lays over a shipped fit."""

    parts: frozenset[str]
    """Such as `gemm.fp8` or `all_reduce`."""
    engine: str
    """Whose kernels were fitted."""
    origin: Origin
    source: Source
    as_of: AsOf
    note: str | None = None


class FittedProfile(Collectives):
    """Kernel layer of one GPU under one engine's kernels, in SI units.

    Complete: what a GPU's own file lacks is taken from the universal roofline and named in
    `borrowed`. The collectives of this class itself are those inside a node.
    """

    gpu: str
    engine: str
    """Whose kernels were fitted; `generic` where they are nobody's in particular."""
    origin: Origin
    source: Source
    as_of: AsOf
    note: str | None = None
    error: Mapping[str, float | None] = Field(default_factory=dict)
    """Held-out errors as fractions, by name; None: not established yet."""
    gemm: Mapping[Precision, GemmFit]
    """By the format that the product runs in."""
    experts: Mapping[Precision, ExpertsFit]
    """By the format of the experts' weights."""
    decode_attention: Mapping[Precision, DecodeAttentionFit]
    """By precision of the KV cache. The same for `latent_attention`: MLA, absorbed."""
    latent_attention: Mapping[Precision, DecodeAttentionFit]
    recurrent: DecodeAttentionFit
    """State update of linear attention and state-space layers; its bytes are the states."""
    prefill_attention: Mapping[Precision, PrefillAttentionFit]
    """By precision of the KV cache. The same for `latent_prefill`."""
    latent_prefill: Mapping[Precision, PrefillAttentionFit]
    network: Collectives
    """Between nodes."""
    layer_overhead_s: NotNegative
    """Small kernels (norms, activations, rotations), per layer and pass."""
    borrowed: frozenset[str] = frozenset()
    """Parts that come from the universal roofline, such as `gemm.int8` or `network.all_reduce`."""
    own: Own | None = None
    """The parts that a file of the user's own laid over this fit; None: there is none."""

    _source = field_validator("source")(check_source)

    def origin_of(self, part: str) -> Origin:
        """Return the origin of one part, by its dotted name: `assumed` where it is borrowed."""
        if self.own is not None and part in self.own.parts:
            return self.own.origin
        return "assumed" if part in self.borrowed else self.origin
