"""The time of one pass of the served model over one batch: counts, rooflines, collectives, overhead."""

from typing import NamedTuple

from sim.cost.attention import attention_operation, decode_rates, prefill_rates
from sim.cost.collectives import all_reduce_s
from sim.cost.operation import Operation
from sim.cost.roofline import smooth_roofline_s
from sim.cost.work import ACTIVATION_BYTES, Gemm, head_gemm, layer_gemms, small_kernel_bytes
from sim.deployment import BYTES_PER_ELEMENT, Deployment, Precision
from sim.hardware import EngineProfile, FittedProfile, GpuProfile
from sim.model import Model

NO_LIMIT = 1 << 60
_MOST_REMEMBERED = 1 << 18


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
    prefill_context_tokens: float = 0.0
    """KV tokens that the prompt chunks read, their own included."""
    prefill_pairs: float = 0.0


class Line(NamedTuple):
    """Pass i (from 0) takes `first_s + i * slope_s`, for `passes` passes at least."""

    first_s: float
    slope_s: float
    passes: int


class ForwardPass:
    """Price passes of one model on one replica; pure, the caches only remember results.

    The arguments are those of a checked scenario: `deployment.tensor_parallel` divides the heads.
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
        self.deployment, self.ranks = deployment, deployment.tensor_parallel
        native = gpu.peak_flop_per_s(deployment.weights) is not None
        self.compute_precision: Precision = deployment.weights if native else "bf16"
        """A GPU without the format multiplies in bf16 and saves bytes only (weight-only quantisation)."""
        self.gemms = layer_gemms(
            model,
            self.ranks,
            BYTES_PER_ELEMENT[deployment.weights],
            BYTES_PER_ELEMENT[self.compute_precision],
        )
        self.head = head_gemm(model, self.ranks)
        self.decode_rates = decode_rates(model, gpu, fitted, deployment)
        self.prefill_rates = prefill_rates(model, gpu, fitted, deployment)
        self._dense: dict[int, float] = {}
        self._logits: dict[float, float] = {}

    def pass_s(self, load: PassLoad) -> float:
        """Return the time of one pass, s."""
        total = self.dense_s(load.positions + load.prefill_tokens)
        total += self.logits_s(load.logit_positions + load.prefill_sequences)
        if load.sequences:
            total += self.decode_rates.seconds(load.context_tokens, load.pairs)
        if load.prefill_tokens:
            total += self.prefill_rates.seconds(load.prefill_context_tokens, load.prefill_pairs)
        return total + self.host_s(load.sequences + load.prefill_sequences)

    def line(self, load: PassLoad, context_growth: float, pairs_growth: float) -> Line:
        """Return the times of the coming passes of a batch that only decodes, and for how many they hold.

        Each pass reads `context_growth` more KV tokens and makes `pairs_growth` more pairs than the one before;
        the line ends where attention turns from memory-bound to compute-bound or back.
        """
        rates = self.decode_rates
        memory_s, memory_slope = (
            rates.token_s * load.context_tokens,
            rates.token_s * context_growth,
        )
        compute_s, compute_slope = rates.pair_s * load.pairs, rates.pair_s * pairs_growth
        if memory_s > compute_s or (memory_s == compute_s and memory_slope >= compute_slope):
            lead_s, slope, rival = memory_s - compute_s, memory_slope, compute_slope
        else:
            lead_s, slope, rival = compute_s - memory_s, compute_slope, memory_slope
        first_s = self.pass_s(load)
        if rival <= slope:
            return Line(first_s, slope, NO_LIMIT)
        return Line(first_s, slope, 1 + int(min(lead_s / (rival - slope), NO_LIMIT)))

    def operations(self, load: PassLoad) -> tuple[Operation, ...]:
        """Return the pass operation by operation; their seconds add up to `pass_s`."""
        operations = [
            *self.dense_operations(load.positions + load.prefill_tokens),
            *self.logits_operations(load.logit_positions + load.prefill_sequences),
        ]
        if load.sequences:
            rates, name = self.decode_rates, "decode attention"
            tokens, pairs = load.context_tokens, load.pairs
            operations.append(
                attention_operation(name, self.model, self.deployment, rates, tokens, pairs)
            )
        if load.prefill_tokens:
            rates, name = self.prefill_rates, "prefill attention"
            tokens, pairs = load.prefill_context_tokens, load.prefill_pairs
            operations.append(
                attention_operation(name, self.model, self.deployment, rates, tokens, pairs)
            )
        host_s = self.host_s(load.sequences + load.prefill_sequences)
        if host_s:
            operations.append(Operation("host", 1, host_s, kind="host"))
        return tuple(operations)

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
            if len(self._logits) < _MOST_REMEMBERED:  # fractional positions hardly repeat
                self._logits[positions] = known
        return known

    def host_s(self, sequences: int) -> float:
        """Return the engine's own time per pass, s."""
        return self.engine.host_s_per_pass + self.engine.host_s_per_sequence * sequences

    def dense_operations(self, tokens: int) -> list[Operation]:
        """GEMMs, small kernels and all-reduces of all layers."""
        if not tokens:
            return []
        layers = self.model.layers
        operations = [
            self._gemm(gemm, tokens, layers, self.compute_precision) for gemm in self.gemms
        ]
        operations.append(self._small_kernels(tokens))
        if (
            self.ranks > 1
        ):  # after attention and after the MLP of each layer, and after the embedding
            tensor_bytes = tokens * self.model.hidden_size * ACTIVATION_BYTES
            operations.append(self._all_reduce(2 * layers + 1, tensor_bytes))
        return operations

    def logits_operations(self, positions: float) -> list[Operation]:
        """LM head, in bf16."""
        return [self._gemm(self.head, positions, 1, "bf16")] if positions else []

    def _gemm(self, gemm: Gemm, tokens: float, count: int, precision: Precision) -> Operation:
        work, fit = gemm.work(tokens), self.fitted.gemm[precision]
        flop_per_s = fit.flop_efficiency * (self.gpu.peak_flop_per_s(precision) or 0.0)
        bytes_per_s = fit.bandwidth_efficiency * self.gpu.memory_bandwidth_bytes_per_s.value
        return Operation(
            gemm.name,
            count,
            smooth_roofline_s(
                flop=work.flop,
                bytes_moved=work.bytes_moved,
                flop_per_s=flop_per_s,
                bytes_per_s=bytes_per_s,
                fixed_s=fit.fixed_s,
                p=fit.p,
            ),
            flop=work.flop,
            bytes_moved=work.bytes_moved,
            fixed_s=fit.fixed_s,
            memory_s=work.bytes_moved / bytes_per_s,
            compute_s=work.flop / flop_per_s,
        )

    def _small_kernels(self, tokens: int) -> Operation:
        """Norms, rotary embedding, activation: the fitted overhead, or their bytes where those take longer."""
        moved = small_kernel_bytes(self.model, self.ranks, tokens)
        efficiency = self.fitted.gemm[self.compute_precision].bandwidth_efficiency
        memory_s = moved / (efficiency * self.gpu.memory_bandwidth_bytes_per_s.value)
        overhead_s = self.fitted.layer_overhead_s
        return Operation(
            "small kernels",
            self.model.layers,
            max(overhead_s, memory_s),
            bytes_moved=moved,
            fixed_s=overhead_s,
            memory_s=memory_s,
        )

    def _all_reduce(self, count: int, tensor_bytes: float) -> Operation:
        link = self.gpu.link_one_way_bytes_per_s.value
        fit = self.fitted.all_reduce
        seconds = all_reduce_s(tensor_bytes, self.ranks, fit=fit, link_bytes_per_s=link)
        return Operation("all-reduce", count, seconds, bytes_moved=tensor_bytes, kind="collective")
