"""Attention over the KV cache: time is a straight line in the tokens read and in the pairs."""

from dataclasses import dataclass

from sim.cost.operation import Operation
from sim.cost.work import attention_flop, kv_read_bytes, rank_shape
from sim.deployment import BYTES_PER_ELEMENT, Deployment
from sim.hardware import FittedProfile, GpuProfile
from sim.model import Model


@dataclass(frozen=True, slots=True)
class AttentionRates:
    """Seconds of all layers of one rank: fixed, per KV token read, per query x key pair."""

    fixed_s: float
    token_s: float
    pair_s: float

    def seconds(self, context_tokens: float, pairs: float) -> float:
        """Return fixed + max(KV bytes, FLOP), s."""
        memory_s, compute_s = self.token_s * context_tokens, self.pair_s * pairs
        return self.fixed_s + (memory_s if memory_s >= compute_s else compute_s)  # noqa: FURB136  # hot


def decode_rates(
    model: Model, gpu: GpuProfile, fitted: FittedProfile, deployment: Deployment
) -> AttentionRates:
    """Few queries against a long cache: bound by the KV read, unless many queries share it."""
    fit = fitted.decode_attention[deployment.kv_precision]
    rank = rank_shape(model, deployment.tensor_parallel)
    kv_bytes = BYTES_PER_ELEMENT[deployment.kv_precision]
    token_bytes = kv_read_bytes(model, rank.kv_heads, 1.0, kv_bytes)
    bandwidth = fit.bandwidth_efficiency * gpu.memory_bandwidth_bytes_per_s.value
    flop_per_s = fit.flop_efficiency * gpu.bf16_dense_flop_per_s.value
    return AttentionRates(
        fixed_s=model.layers * fit.fixed_s,
        token_s=model.layers * token_bytes / bandwidth,
        pair_s=model.layers * attention_flop(model, rank.heads, 1.0) / flop_per_s,
    )


def prefill_rates(
    model: Model, gpu: GpuProfile, fitted: FittedProfile, deployment: Deployment
) -> AttentionRates:
    """A chunk of a prompt against itself and the cache before it: bound by the arithmetic."""
    fit, decode = fitted.prefill_attention, decode_rates(model, gpu, fitted, deployment)
    rank = rank_shape(model, deployment.tensor_parallel)
    flop_per_s = fit.flop_efficiency * gpu.bf16_dense_flop_per_s.value
    return AttentionRates(
        fixed_s=model.layers * fit.fixed_s,
        token_s=decode.token_s,
        pair_s=model.layers * attention_flop(model, rank.heads, 1.0) / flop_per_s,
    )


def attention_operation(
    name: str,
    model: Model,
    deployment: Deployment,
    rates: AttentionRates,
    *,
    context_tokens: float,
    pairs: float,
) -> Operation:
    """Return the attention of a pass as one line."""
    rank, layers = rank_shape(model, deployment.tensor_parallel), model.layers
    return Operation(
        name=name,
        count=layers,
        seconds=rates.seconds(context_tokens, pairs) / layers,
        flop=attention_flop(model, rank.heads, pairs),
        bytes_moved=kv_read_bytes(
            model, rank.kv_heads, context_tokens, BYTES_PER_ELEMENT[deployment.kv_precision]
        ),
        fixed_s=rates.fixed_s / layers,
        memory_s=rates.token_s * context_tokens / layers,
        compute_s=rates.pair_s * pairs / layers,
    )
