"""Attention over the KV cache: time is a straight line in the tokens read and in the pairs."""

from dataclasses import dataclass
from math import exp

from sim.cost.layout import Layout
from sim.cost.operation import Operation
from sim.cost.pass_load import Reads
from sim.cost.residuals import grid_of
from sim.cost.work import ACTIVATION_BYTES
from sim.hardware import DecodeAttentionFit, FittedProfile, GpuProfile
from sim.model import GroupedQuery, Latent, Model
from sim.precision import BYTES_PER_WEIGHT, Precision

NO_LIMIT = 1 << 60
INDEXER_BYTES = 1.0
"""Engines keep the indexer's keys in FP8 whatever the cache is in."""


@dataclass(frozen=True, slots=True)
class Attention:
    """One kind of attention layer on one rank: what a token and a pair cost in one layer."""

    name: str
    count: int
    reach: int | None
    """How far a query looks back, in tokens; None: all the way."""
    token_bytes: float
    """KV read per token of context, one layer."""
    decode_pair_flop: float
    """FLOP per query x key pair, one layer: 2 heads (d_qk + d_v); latent widths where absorbed."""
    prefill_pair_flop: float
    heads: int = 1
    """Query heads on one rank."""
    kv_heads: int = 1
    head_dim: float = 128.0
    query_bytes: float = 0.0
    """Query read and output written per position of a prompt, one layer."""
    latent: bool = False
    """All heads read one latent."""
    gathered: bool = False
    """Each query has tokens of its own to read, chosen by an indexer: none is read for two."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Seconds of all layers of one kind: fixed, per KV token read, per query x key pair."""

    kind: Attention
    fixed_s: float
    token_s: float
    pair_s: float
    """FLOP of a pair, or its read where each query has tokens of its own, whichever is longer."""
    pair_flop: float
    peak_flop_per_s: float
    multiply_s: float
    """FLOP of a pair alone."""

    def seconds(self, context_tokens: float, pairs: float) -> float:
        """Return fixed + max(KV bytes, FLOP), s."""
        memory_s, compute_s = self.token_s * context_tokens, self.pair_s * pairs
        return self.fixed_s + (memory_s if memory_s >= compute_s else compute_s)  # noqa: FURB136  # hot

    def line(
        self, read: float, pairs: float, read_growth: float, pairs_growth: float
    ) -> tuple[float, float, int]:
        """Return `seconds`, how much longer each later pass is, and for how many passes.

        The line ends where the kind turns from memory-bound to compute-bound or back.
        """
        memory_s, compute_s = self.token_s * read, self.pair_s * pairs
        slope, rival = self.token_s * read_growth, self.pair_s * pairs_growth
        longer = memory_s
        if memory_s < compute_s or (memory_s == compute_s and slope < rival):
            longer, compute_s, slope, rival = compute_s, memory_s, rival, slope
        if rival <= slope:
            return self.fixed_s + longer, slope, NO_LIMIT
        passes = (longer - compute_s) / (rival - slope)
        limit = 1 + int(passes) if passes < NO_LIMIT else NO_LIMIT
        return self.fixed_s + longer, slope, limit

    def operation(self, context_tokens: float, pairs: float, stage: str) -> Operation:
        """Return the kind as one line of a pass."""
        count = self.kind.count
        read = pairs if self.kind.gathered else context_tokens
        return Operation(
            name=f"{stage} {self.kind.name}",
            count=count,
            seconds=self.seconds(context_tokens, pairs) / count,
            flop=self.pair_flop * pairs,
            bytes_moved=self.kind.token_bytes * read,
            fixed_s=self.fixed_s / count,
            memory_s=self.token_s * read / count,
            compute_s=self.multiply_s * pairs / count,
            peak_flop_per_s=self.peak_flop_per_s,
        )


def attention_kinds(model: Model, layout: Layout, kv: Precision) -> tuple[Attention, ...]:
    """Return the kinds of attention of a model, like layers together."""
    counts: dict[GroupedQuery | Latent, int] = {}
    for mixer, count in model.attention_groups():
        counts[mixer] = counts.get(mixer, 0) + count
    kinds: list[Attention] = []
    for mixer, count in counts.items():
        if isinstance(mixer, GroupedQuery):
            kinds.append(_grouped_query(mixer, count, layout, BYTES_PER_WEIGHT[kv]))
        else:
            kinds += _latent(mixer, count, layout, BYTES_PER_WEIGHT[kv])
    return tuple(kinds)


def _grouped_query(mixer: GroupedQuery, count: int, layout: Layout, kv_bytes: float) -> Attention:
    width = mixer.head_dim + mixer.value_dim
    flop = 2.0 * layout.heads(mixer.heads) * width
    window = mixer.window_tokens
    return Attention(
        name="windowed attention" if window else "attention",
        count=count,
        # a fixed chunk is half full on average
        reach=window // 2 if window and mixer.chunked else window,
        token_bytes=layout.kv_heads(mixer.kv_heads) * width * kv_bytes,
        decode_pair_flop=flop,
        prefill_pair_flop=flop,
        heads=layout.heads(mixer.heads),
        kv_heads=layout.kv_heads(mixer.kv_heads),
        head_dim=mixer.head_dim,
        query_bytes=layout.heads(mixer.heads) * width * ACTIVATION_BYTES,
    )


def _latent(mixer: Latent, count: int, layout: Layout, kv_bytes: float) -> list[Attention]:
    """Every rank reads the whole latent; sparse attention adds an indexer that sees all tokens."""
    heads, cached = layout.heads(mixer.heads), mixer.kv_rank + mixer.rope_dim
    kinds = [
        Attention(
            name="sparse latent attention" if mixer.top_k_tokens else "latent attention",
            count=count,
            reach=mixer.top_k_tokens,
            token_bytes=cached * kv_bytes,
            decode_pair_flop=2.0 * heads * (cached + mixer.kv_rank),
            prefill_pair_flop=2.0 * heads * (mixer.nope_dim + mixer.rope_dim + mixer.value_dim),
            heads=heads,
            head_dim=cached,
            query_bytes=heads
            * (mixer.nope_dim + mixer.rope_dim + mixer.value_dim)
            * ACTIVATION_BYTES,
            latent=True,
            gathered=mixer.top_k_tokens is not None,
        )
    ]
    if mixer.top_k_tokens and mixer.indexer_heads:
        flop = 2.0 * mixer.indexer_heads * mixer.indexer_dim
        token_bytes = mixer.indexer_dim * INDEXER_BYTES
        kinds.append(Attention("indexer", count, None, token_bytes, flop, flop))
    return kinds


def decode_rates(
    kind: Attention, gpu: GpuProfile, fitted: FittedProfile, kv: Precision, sequences: int = 1
) -> Rates:
    """Few queries against a long cache: bound by the KV read, unless many queries share it.

    What a kernel pays per sequence, and its residuals, are those of one batch: the line in the
    context holds for `sequences` sequences.
    """
    fit = (fitted.latent_attention if kind.latent else fitted.decode_attention)[kv]
    bandwidth = gpu.memory_bandwidth_bytes_per_s.value
    peak, items = peak_flop_per_s(gpu, fit.computed), sequences * kind.kv_heads
    factor = _decode_factor(kind, fit, items)
    slowness = max(factor / fit.bandwidth_efficiency, 1.0)
    token_s = kind.count * kind.token_bytes * slowness / bandwidth
    multiply_s = kind.count * kind.decode_pair_flop * max(factor / fit.flop_efficiency, 1.0) / peak
    return Rates(
        kind,
        fixed_s=kind.count * factor * (fit.fixed_s + fit.per_item_s * items),
        token_s=token_s,
        pair_s=max(multiply_s, token_s) if kind.gathered else multiply_s,
        pair_flop=kind.decode_pair_flop,
        peak_flop_per_s=peak,
        multiply_s=multiply_s,
    )


def peak_flop_per_s(gpu: GpuProfile, computed: Precision) -> float:
    """Return the peak of a format, or of 16 bits where the GPU has no units for it."""
    return gpu.peak_flop_per_s(computed) or gpu.peak_flop_per_s("bf16") or 0.0


def _decode_factor(kind: Attention, fit: DecodeAttentionFit, items: int) -> float:
    if fit.residual is None:
        return 1.0
    quantities = {
        "items": float(items),
        "heads_per_kv": kind.heads / kind.kv_heads,
        "head_dim": kind.head_dim,
    }
    grid = grid_of(fit.residual)
    return exp(float(grid.log_ratio(**{name: quantities[name] for name in grid.names})))


def decode_s(
    kinds: list[tuple[int, Rates]], read: float, pairs: float, capped: Reads, share: float
) -> float:
    """Return the time of all kinds of attention over one lane's share of the reads, s."""
    total = 0.0
    for index, rates in kinds:
        if index < 0:
            total += rates.seconds(read * share, pairs * share)
        else:
            read_here, pairs_here = capped[index]
            total += rates.seconds(read_here * share, pairs_here * share)
    return total
