"""The time of one pass of the served model over one batch."""

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
        """A GPU without the format multiplies in bf16 and saves bytes only (weight-only
        quantisation).
        """
        self.gemms = layer_gemms(
            model,
            self.ranks,
            BYTES_PER_ELEMENT[deployment.weights],
            BYTES_PER_ELEMENT[self.compute_precision],
        )
        self.head = head_gemm(model, self.ranks)
        self.decode_rates = decode_rates(model, gpu, fitted, deployment)
        self.prefill_rates = prefill_rates(model, gpu, fitted, deployment)
        self.host_pass_s = engine.host_s_per_pass
        self.host_sequence_s = engine.host_s_per_sequence
        self._by_size: dict[tuple[int, float], float] = {}

    def pass_s(self, load: PassLoad) -> float:
        """Return the time of one pass, s."""
        return self.seconds(*load)

    def seconds(  # noqa: PLR0917  # called per pass: positional is faster
        self,
        sequences: int,
        positions: int,
        logit_positions: float,
        context_tokens: float,
        pairs: float,
        prefill_sequences: int = 0,
        prefill_tokens: int = 0,
        prefill_context_tokens: float = 0.0,
        prefill_pairs: float = 0.0,
    ) -> float:
        """Return the time of a pass with the fields of a `PassLoad`, s: the inner call."""
        key = (positions + prefill_tokens, logit_positions + prefill_sequences)
        total = self._by_size.get(key)
        if total is None:
            total = self._remember(key)
        total += self.host_pass_s + self.host_sequence_s * (sequences + prefill_sequences)
        if sequences:
            total += self.decode_rates.seconds(context_tokens, pairs)
        if prefill_tokens:
            total += self.prefill_rates.seconds(prefill_context_tokens, prefill_pairs)
        return total

    def slope(
        self, context_tokens: float, pairs: float, context_growth: float, pairs_growth: float
    ) -> tuple[float, int]:
        """Return how much longer each decode pass is than the one before, and for how many.

        Each reads `context_growth` more KV tokens and makes `pairs_growth` more pairs. The
        line ends where attention turns from memory-bound to compute-bound or back.
        """
        token_s, pair_s = self.decode_rates.token_s, self.decode_rates.pair_s
        lead_s = token_s * context_tokens - pair_s * pairs
        memory_slope, compute_slope = token_s * context_growth, pair_s * pairs_growth
        if lead_s > 0.0 or (lead_s == 0.0 and memory_slope >= compute_slope):
            if compute_slope <= memory_slope:
                return memory_slope, NO_LIMIT
            return memory_slope, _passes_before(lead_s, compute_slope - memory_slope)
        if memory_slope <= compute_slope:
            return compute_slope, NO_LIMIT
        return compute_slope, _passes_before(-lead_s, memory_slope - compute_slope)

    def operations(self, load: PassLoad) -> tuple[Operation, ...]:
        """Return the pass operation by operation; their seconds add up to `pass_s`."""
        operations = [
            *self.dense_operations(load.positions + load.prefill_tokens),
            *self.logits_operations(load.logit_positions + load.prefill_sequences),
        ]
        if load.sequences:
            operations.append(
                attention_operation(
                    "decode attention",
                    self.model,
                    self.deployment,
                    self.decode_rates,
                    context_tokens=load.context_tokens,
                    pairs=load.pairs,
                )
            )
        if load.prefill_tokens:
            operations.append(
                attention_operation(
                    "prefill attention",
                    self.model,
                    self.deployment,
                    self.prefill_rates,
                    context_tokens=load.prefill_context_tokens,
                    pairs=load.prefill_pairs,
                )
            )
        host_s = self.host_s(load.sequences + load.prefill_sequences)
        if host_s:
            operations.append(Operation("host", 1, host_s, kind="host"))
        return tuple(operations)

    def host_s(self, sequences: int) -> float:
        """Return the engine's own time per pass, s."""
        return self.host_pass_s + self.host_sequence_s * sequences

    def _remember(self, key: tuple[int, float]) -> float:
        """Return the time of all that depends only on the tokens and logits in the pass, s."""
        tokens, logit_positions = key
        operations = self.dense_operations(tokens) + self.logits_operations(logit_positions)
        known = sum(operation.total_s for operation in operations)
        if len(self._by_size) < _MOST_REMEMBERED:
            self._by_size[key] = known
        return known

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
        """Norms, rotary embedding, activation: the overhead, or the bytes if longer."""
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


def _passes_before(lead_s: float, closing_s: float) -> int:
    """Return how many passes start before a lead that shrinks by `closing_s` a pass is used up."""
    passes = lead_s / closing_s
    return 1 + int(passes) if passes < NO_LIMIT else NO_LIMIT
