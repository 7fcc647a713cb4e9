"""Times of all that depends on the tokens in a pass and not on their context."""

from dataclasses import dataclass

from sim.cost.collectives import all_reduce_s, exchange_s
from sim.cost.experts import Routing
from sim.cost.layers import Layers
from sim.cost.layout import Layout
from sim.cost.operation import Operation
from sim.cost.roofline import smooth_roofline_s
from sim.cost.work import ACTIVATION_BYTES, Gemm
from sim.hardware import FittedProfile, GemmFit, GpuProfile
from sim.model import Experts, Model, Recurrent
from sim.precision import Precision

STATE_BYTES = 4.0
"""Engines keep recurrent states in fp32 (mamba_ssm, flash-linear-attention)."""


@dataclass(frozen=True, slots=True)
class Dense:
    """Operations of one rank as functions of the tokens in the pass."""

    model: Model
    gpu: GpuProfile
    fitted: FittedProfile
    layout: Layout
    layers: Layers
    expert_skew: float

    def operations(self, tokens: int, sequences: int) -> list[Operation]:
        """Return the layers without attention for one lane of `tokens` tokens of `sequences`."""
        if not tokens:
            return []
        operations = [self.gemm(gemm, tokens, count) for gemm, count in self.layers.gemms]
        operations += [self._experts(mlp, tokens, count) for mlp, count in self.layers.experts]
        operations += [
            self._recurrence(mixer, tokens, sequences, count)
            for mixer, count in self.layers.recurrent
        ]
        operations += [self._small(width, tokens, count) for width, count in self.layers.small]
        return operations + self._collectives(tokens)

    def logits(self, positions: float) -> list[Operation]:
        """Return the LM head, in 16 bits."""
        return [self.gemm(self.layers.head, positions, 1)] if positions else []

    def fit(self, precision: Precision) -> GemmFit:
        """Return the fitted losses of the format that a product runs in."""
        return self.fitted.gemm[precision]

    def _peak(self, precision: Precision) -> float:
        return self.gpu.peak_flop_per_s(precision) or 0.0

    def _rates(self, precision: Precision) -> tuple[float, float]:
        fit = self.fit(precision)
        return (
            fit.flop_efficiency * self._peak(precision),
            fit.bandwidth_efficiency * self.gpu.memory_bandwidth_bytes_per_s.value,
        )

    def gemm(self, gemm: Gemm, tokens: float, count: int) -> Operation:
        """Return a matrix product by the smooth roofline."""
        work, fit = gemm.work(tokens), self.fit(gemm.format.computed)
        flop_per_s, bytes_per_s = self._rates(gemm.format.computed)
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
            peak_flop_per_s=self._peak(gemm.format.computed),
        )

    def _experts(self, mlp: Experts, tokens: int, count: int) -> Operation:
        """Grouped products of the routed experts on the rank that is last.

        Its experts hit are read once; its FLOP are those of its share of the choices.
        """
        layout, stored = self.layout, self.layers.expert_format
        fit = self.fitted.experts[stored.stored]
        routing = Routing(mlp.experts, mlp.active, layout.expert, self.expert_skew)
        seen = tokens * layout.attention_data  # the experts serve all groups of the stage
        one = mlp.expert_elements(self.model.hidden_size) / layout.expert_tensor
        choices = seen * mlp.active / layout.expert * routing.busiest_share(seen)
        width = mlp.latent_size or self.model.hidden_size
        moved = routing.busiest_hits(seen) * one * stored.weight_bytes
        moved += choices * width * (stored.input_bytes + ACTIVATION_BYTES)
        flop = 2.0 * choices * one
        peak = self._peak(stored.computed)
        bandwidth = self.gpu.memory_bandwidth_bytes_per_s.value
        memory_s = moved / (fit.bandwidth_efficiency * bandwidth)
        compute_s = flop / (fit.flop_efficiency * peak)
        return Operation(
            "routed experts",
            count,
            fit.fixed_s + memory_s + compute_s,
            flop=flop,
            bytes_moved=moved,
            fixed_s=fit.fixed_s,
            memory_s=memory_s,
            compute_s=compute_s,
            peak_flop_per_s=peak,
        )

    def _recurrence(self, mixer: Recurrent, tokens: int, sequences: int, count: int) -> Operation:
        """Read and write the state of each sequence, and update it with each token."""
        ranks, fit = self.layout.tensor, self.fitted.recurrent
        moved = 2.0 * STATE_BYTES * mixer.sequence_elements * sequences / ranks
        flop = mixer.flop_per_token * tokens / ranks
        bandwidth = self.gpu.memory_bandwidth_bytes_per_s.value
        memory_s = moved / (fit.bandwidth_efficiency * bandwidth)
        compute_s = flop / (fit.flop_efficiency * self._peak("bf16"))
        return Operation(
            "recurrent state",
            count,
            fit.fixed_s + max(memory_s, compute_s),
            flop=flop,
            bytes_moved=moved,
            fixed_s=fit.fixed_s,
            memory_s=memory_s,
            compute_s=compute_s,
            peak_flop_per_s=self._peak("bf16"),
        )

    def _small(self, width: float, tokens: int, count: int) -> Operation:
        """Norms, rotary embedding, activation: the overhead, or the bytes if longer.

        Two fused residual norms read 2 and write 2 tensors of the hidden size each; the gated
        activation reads two and writes one tensor of the MLP's width.
        """
        moved = ACTIVATION_BYTES * (8 * self.model.hidden_size + 3 * width) * tokens
        memory_s = moved / self._rates("bf16")[1]
        overhead_s = self.fitted.layer_overhead_s
        return Operation(
            "small kernels",
            count,
            max(overhead_s, memory_s),
            bytes_moved=moved,
            fixed_s=overhead_s,
            memory_s=memory_s,
        )

    def _collectives(self, tokens: int) -> list[Operation]:
        """Sums over tensor-parallel ranks, exchange with the experts, hand-over between stages."""
        layout, fitted, link = self.layout, self.fitted, self.gpu.link_one_way_bytes_per_s.value
        tensor = tokens * self.model.hidden_size * ACTIVATION_BYTES
        found: list[Operation] = []

        def add(name: str, count: int, seconds: float, moved: float) -> None:
            if count and seconds:
                found.append(Operation(name, count, seconds, bytes_moved=moved, kind="collective"))

        alone = layout.attention_data == 1
        count = self.layers.reduced + (self.layers.expert_layers if alone else 0)
        seconds = all_reduce_s(tensor, layout.tensor, fit=fitted.all_reduce, link_bytes_per_s=link)
        add("all-reduce", count, seconds, tensor)
        if not alone:
            gpus = layout.stage_gpus
            for mlp, count in self.layers.experts:
                copies = min(mlp.active, layout.expert) if layout.expert > 1 else gpus
                moved = tensor * copies / layout.tensor
                fit = fitted.all_to_all if layout.expert > 1 else fitted.all_gather
                seconds = exchange_s(moved, gpus, fit=fit, link_bytes_per_s=link)
                add("exchange with the experts", 2 * count, seconds, moved)
        if layout.pipeline > 1:
            fit = fitted.point_to_point
            seconds = fit.fixed_s + tensor / (fit.bandwidth_efficiency * link)
            add("hand-over between stages", layout.pipeline - 1, seconds, tensor)
        return found
