"""Attention of prompt chunks: a smooth roofline, and a table over the chunks of a pass."""

from collections.abc import Iterable

from sim.cost.attention import Attention, peak_flop_per_s
from sim.cost.operation import Operation
from sim.cost.pass_load import Reads
from sim.cost.residuals import Plane, grid_of
from sim.hardware import FittedProfile, GpuProfile
from sim.precision import Precision


class Prefill:
    """Chunks of prompts against themselves and the cache before them."""

    def __init__(
        self, kind: Attention, gpu: GpuProfile, fitted: FittedProfile, kv: Precision
    ) -> None:
        fit = (fitted.latent_prefill if kind.latent else fitted.prefill_attention)[kv]
        self._query_bytes = kind.query_bytes
        if fit.bandwidth_efficiency is None:
            self._query_bytes = 0.0
            decode = (fitted.latent_attention if kind.latent else fitted.decode_attention)[kv]
            efficiency = decode.bandwidth_efficiency
            fit = fit.model_copy(update={"bandwidth_efficiency": efficiency})
        self.kind, self.fit = kind, fit
        self.peak = peak_flop_per_s(gpu, fit.computed)
        self.bandwidth = gpu.memory_bandwidth_bytes_per_s.value
        self._efficiency, self._p = fit.bandwidth_efficiency or 1.0, fit.p
        reached = self._efficiency * self.bandwidth
        self._context_s, self._query_s = kind.token_bytes / reached, self._query_bytes / reached
        self._pair_s = kind.prefill_pair_flop / (fit.flop_efficiency * self.peak)
        self._plane: Plane | None = None
        if fit.residual is not None:
            layout = {"heads_per_kv": kind.heads / kind.kv_heads, "head_dim": kind.head_dim}
            grid = grid_of(fit.residual)
            self._plane = Plane.of(grid, "query_tokens", "items", **layout)

    def seconds(
        self, context_tokens: float, pairs: float, sequences: float, tokens: float
    ) -> float:
        """Return the time of all layers of the kind for chunks of `tokens` in all, s.

        `forms.prefill_attention_s` in single figures: it is called per pass.
        """
        memory_s = self._context_s * context_tokens + self._query_s * tokens
        compute_s = self._pair_s * pairs
        longer, shorter = memory_s, compute_s
        if longer < shorter:
            longer, shorter = shorter, longer
        if self._p is not None and longer > 0.0:
            longer *= (1.0 + (shorter / longer) ** self._p) ** (1.0 / self._p)
        seconds = self.fit.fixed_s + longer
        if self._plane is not None:
            # What depends on the chunks, not on the context before them.
            seconds *= self._plane.factor(tokens / sequences, sequences * self.kind.heads)
            # Both rates below are of the peaks: the floor.
            floor_s = max(memory_s * self._efficiency, compute_s * self.fit.flop_efficiency)
            seconds = max(seconds, floor_s)
        return self.kind.count * seconds

    def operation(
        self, context_tokens: float, pairs: float, sequences: float, tokens: float
    ) -> Operation:
        """Return the kind as one line of a pass."""
        kind = self.kind
        flop = kind.prefill_pair_flop * pairs
        moved = kind.token_bytes * context_tokens + self._query_bytes * tokens
        bandwidth = (self.fit.bandwidth_efficiency or 1.0) * self.bandwidth
        return Operation(
            name=f"prefill {kind.name}",
            count=kind.count,
            seconds=self.seconds(context_tokens, pairs, sequences, tokens) / kind.count,
            flop=flop,
            bytes_moved=moved,
            fixed_s=self.fit.fixed_s,
            memory_s=moved / bandwidth,
            compute_s=flop / (self.fit.flop_efficiency * self.peak),
            peak_flop_per_s=self.peak,
        )


def prefill_s(
    kinds: Iterable[tuple[int, Prefill]], reads: Reads, sequences: int, tokens: int, share: float
) -> float:
    """Return the time of all kinds of attention over one lane's share of the prompts, s.

    Each kind comes with its place in `reads`, whose first entry is place -1.
    """
    prompts, held, total = max(1.0, sequences * share), tokens * share, 0.0
    for place, kind in kinds:
        read, pairs = reads[place + 1]
        total += kind.seconds(read * share, pairs * share, prompts, held)
    return total
