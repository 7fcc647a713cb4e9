"""The time of one pass of the served model over one batch: counts, rooflines, collectives, overhead."""

from typing import NamedTuple

from sim.cost.collectives import all_reduce_s
from sim.cost.operation import Operation, bound_of
from sim.cost.roofline import smooth_roofline_s
from sim.cost.work import (
    ACTIVATION_BYTES,
    Gemm,
    attention_flop,
    head_gemm,
    kv_read_bytes,
    layer_gemms,
    rank_shape,
    small_kernel_bytes,
)
from sim.deployment import BYTES_PER_ELEMENT, Deployment
from sim.hardware import EngineProfile, FittedProfile, GpuProfile
from sim.model import Model

NO_LIMIT = 1 << 60


class PassLoad(NamedTuple):
    """What one pass of one replica holds, summed over its sequences."""

    sequences: int
    """Sequences that decode."""
    positions: int
    """Their query positions."""
    logit_positions: float
    """Those of them whose logits are needed."""
    context_tokens: float
    """KV tokens that they read."""
    pairs: float
    """Their query x key pairs."""
    prefill_sequences: int = 0
    prefill_tokens: int = 0
    prefill_context_tokens: int = 0
    """KV tokens that the prompt chunks read, their own included."""
    prefill_pairs: float = 0.0


class Line(NamedTuple):
    """Pass i (from 0) takes `first_s + i * slope_s`, for `passes` passes at least."""

    first_s: float
    slope_s: float
    passes: int


class ForwardPass:
    """Price passes of one model on one replica. Pure: the caches only remember results.

    Parameters are those of the scenario, already checked: `deployment.tensor_parallel` divides the heads.
    """

    def __init__(
        self,
        model: Model,
        gpu: GpuProfile,
        fitted: FittedProfile,
        engine: EngineProfile,
        deployment: Deployment,
    ) -> None:
        self.model, self.gpu, self.fitted, self.engine = model, gpu, fitted, engine
        self.deployment = deployment
        self.ranks = deployment.tensor_parallel
        self.rank = rank_shape(model, self.ranks)
        native = gpu.peak_flop_per_s(deployment.weights) is not None
        self.compute_precision = deployment.weights if native else "bf16"
        """A GPU without the format multiplies in bf16 and saves bytes only (weight-only quantisation)."""
        weight_bytes = BYTES_PER_ELEMENT[deployment.weights]
        input_bytes = BYTES_PER_ELEMENT[self.compute_precision]
        self.gemms = layer_gemms(model, self.ranks, weight_bytes, input_bytes)
        self.head = head_gemm(model, self.ranks)
        self.bandwidth = gpu.memory_bandwidth_bytes_per_s
        self._kv_bytes = BYTES_PER_ELEMENT[deployment.kv_precision]
        self._dense: dict[int, float] = {}
        self._logits: dict[float, float] = {}
        self._decode_memory_s, self._decode_compute_s = self._attention_slopes()
        self._decode_fixed_s = model.layers * fitted.decode_attention[deployment.kv_precision].fixed_s
        prefill = fitted.prefill_attention
        self._prefill_fixed_s = model.layers * prefill.fixed_s
        self._prefill_pair_s = (
            model.layers
            * attention_flop(model, self.rank.heads, 1.0)
            / (prefill.flop_efficiency * self._peak("bf16"))
        )

    # -- whole passes -------------------------------------------------------------------------

    def pass_s(self, load: PassLoad) -> float:
        """Return the time of one pass, s."""
        total = self.dense_s(load.positions + load.prefill_tokens)
        total += self.logits_s(load.logit_positions + load.prefill_sequences)
        if load.sequences:
            total += self.decode_attention_s(load.context_tokens, load.pairs)
        if load.prefill_tokens:
            total += self.prefill_attention_s(load.prefill_context_tokens, load.prefill_pairs)
        return total + self.host_s(load.sequences + load.prefill_sequences)

    def line(self, load: PassLoad, context_growth: float, pairs_growth: float) -> Line:
        """Return the times of the next passes of a batch that only decodes and grows by as much each pass."""
        memory_s = self._decode_memory_s * load.context_tokens
        memory_slope = self._decode_memory_s * context_growth
        compute_s = self._decode_compute_s * load.pairs
        compute_slope = self._decode_compute_s * pairs_growth
        first_s = self.pass_s(load)
        if memory_s > compute_s or (memory_s == compute_s and memory_slope >= compute_slope):
            lead_s, slope, rival = memory_s - compute_s, memory_slope, compute_slope
        else:
            lead_s, slope, rival = compute_s - memory_s, compute_slope, memory_slope
        if rival <= slope:
            return Line(first_s, slope, NO_LIMIT)
        return Line(first_s, slope, 1 + int(lead_s / (rival - slope)))

    def operations(self, load: PassLoad) -> tuple[Operation, ...]:
        """Return the pass operation by operation; their seconds add up to `pass_s`."""
        sequences = load.sequences + load.prefill_sequences
        operations = [
            *self.dense_operations(load.positions + load.prefill_tokens),
            *self.logits_operations(load.logit_positions + load.prefill_sequences),
        ]
        if load.sequences:
            operations.append(self._decode_attention(load))
        if load.prefill_tokens:
            operations.append(self._prefill_attention(load))
        if self.host_s(sequences):
            operations.append(Operation("host", 1, 0.0, 0.0, self.host_s(sequences), "host"))
        return tuple(operations)

    # -- parts --------------------------------------------------------------------------------

    def dense_s(self, tokens: int) -> float:
        """Return the time of everything that depends only on the tokens in the pass, s."""
        known = self._dense.get(tokens)
        if known is None:
            known = sum(operation.total_s for operation in self.dense_operations(tokens))
            self._dense[tokens] = known
        return known

    def logits_s(self, positions: float) -> float:
        """Return the time of the LM head over `positions`, s."""
        known = self._logits.get(positions)
        if known is None:
            known = sum(operation.total_s for operation in self.logits_operations(positions))
            if len(self._logits) < 1 << 20:  # fractional positions never repeat: bound the memory
                self._logits[positions] = known
        return known

    def decode_attention_s(self, context_tokens: float, pairs: float) -> float:
        """Return fixed + max(KV bytes, FLOP) of decode attention over all layers, s."""
        memory_s = self._decode_memory_s * context_tokens
        compute_s = self._decode_compute_s * pairs
        return self._decode_fixed_s + (memory_s if memory_s >= compute_s else compute_s)

    def prefill_attention_s(self, context_tokens: float, pairs: float) -> float:
        """Return fixed + max(FLOP, KV bytes) of prompt attention over all layers, s."""
        memory_s = self._decode_memory_s * context_tokens
        return self._prefill_fixed_s + max(self._prefill_pair_s * pairs, memory_s)

    def host_s(self, sequences: int) -> float:
        """Return the engine's own time per pass, s."""
        return self.engine.host_s_per_pass + self.engine.host_s_per_sequence * sequences

    def dense_operations(self, tokens: int) -> list[Operation]:
        """GEMMs, small kernels and all-reduces of all layers."""
        if not tokens:
            return []
        layers = self.model.layers
        operations = [self._gemm(gemm, tokens, layers, self.compute_precision) for gemm in self.gemms]
        small_bytes = small_kernel_bytes(self.model, self.ranks, tokens)
        bytes_s = small_bytes / (self._bandwidth_efficiency() * self.bandwidth)
        overhead_s = self.fitted.layer_overhead_s
        bound = bound_of(overhead_s, bytes_s, 0.0)
        small_s = max(overhead_s, bytes_s)
        operations.append(Operation("small kernels", layers, 0.0, small_bytes, small_s, bound))
        if self.ranks > 1:  # after attention and after the MLP of each layer, and after the embedding
            operations.append(
                self._all_reduce(2 * layers + 1, tokens * self.model.hidden_size * ACTIVATION_BYTES)
            )
        return operations

    def logits_operations(self, positions: float) -> list[Operation]:
        """LM head, and the gathering of its columns from the ranks."""
        if not positions:
            return []
        return [self._gemm(self.head, positions, 1, "bf16")]

    # -- one operation ------------------------------------------------------------------------

    def _peak(self, precision: str) -> float:
        peak = self.gpu.peak_flop_per_s(precision)
        if peak is None:  # pragma: no cover - bf16 exists on every profile, others are checked above
            raise AssertionError(precision)
        return peak

    def _bandwidth_efficiency(self) -> float:
        return self.fitted.gemm[self.compute_precision].bandwidth_efficiency

    def _attention_slopes(self) -> tuple[float, float]:
        """Seconds per KV token and per query x key pair of decode attention, all layers."""
        fit = self.fitted.decode_attention[self.deployment.kv_precision]
        memory = kv_read_bytes(self.model, self.rank.kv_heads, 1.0, self._kv_bytes)
        compute = attention_flop(self.model, self.rank.heads, 1.0)
        return (
            self.model.layers * memory / (fit.bandwidth_efficiency * self.bandwidth),
            self.model.layers * compute / (fit.flop_efficiency * self._peak("bf16")),
        )

    def _gemm(self, gemm: Gemm, tokens: float, count: int, precision: str) -> Operation:
        work, fit, peak = gemm.work(tokens), self.fitted.gemm[precision], self._peak(precision)
        flop_per_s = fit.flop_efficiency * peak
        bytes_per_s = fit.bandwidth_efficiency * self.bandwidth
        seconds = smooth_roofline_s(
            flop=work.flop,
            bytes_moved=work.bytes_moved,
            flop_per_s=flop_per_s,
            bytes_per_s=bytes_per_s,
            fixed_s=fit.fixed_s,
            p=fit.p,
        )
        bound = bound_of(fit.fixed_s, work.bytes_moved / bytes_per_s, work.flop / flop_per_s)
        return Operation(gemm.name, count, work.flop, work.bytes_moved, seconds, bound)

    def _all_reduce(self, count: int, bytes_per_rank: float) -> Operation:
        link = self.gpu.link_one_way_bytes_per_s
        if link is None:  # pragma: no cover - refused when the scenario is loaded
            raise AssertionError(self.gpu.name)
        seconds = all_reduce_s(
            bytes_per_rank, self.ranks, fit=self.fitted.all_reduce, link_bytes_per_s=link
        )
        return Operation("all-reduce", count, 0.0, bytes_per_rank, seconds, "collective")

    def _decode_attention(self, load: PassLoad) -> Operation:
        layers = self.model.layers
        fixed_s = self._decode_fixed_s / layers
        memory_s = self._decode_memory_s * load.context_tokens / layers
        compute_s = self._decode_compute_s * load.pairs / layers
        return Operation(
            "decode attention",
            layers,
            attention_flop(self.model, self.rank.heads, load.pairs),
            kv_read_bytes(self.model, self.rank.kv_heads, load.context_tokens, self._kv_bytes),
            self.decode_attention_s(load.context_tokens, load.pairs) / layers,
            bound_of(fixed_s, memory_s, compute_s),
        )

    def _prefill_attention(self, load: PassLoad) -> Operation:
        layers, context = self.model.layers, load.prefill_context_tokens
        seconds = self.prefill_attention_s(context, load.prefill_pairs) / layers
        compute_s = self._prefill_pair_s * load.prefill_pairs / layers
        memory_s = self._decode_memory_s * context / layers
        return Operation(
            "prefill attention",
            layers,
            attention_flop(self.model, self.rank.heads, load.prefill_pairs),
            kv_read_bytes(self.model, self.rank.kv_heads, context, self._kv_bytes),
            seconds,
            bound_of(self._prefill_fixed_s / layers, memory_s, compute_s),
        )
