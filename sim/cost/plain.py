"""Times of what depends on the tokens of a pass alone: products, small kernels, collectives.

The formulas take one number of tokens or an array of them, so that a whole table costs little
more than one entry.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from sim.cost.collectives import all_reduce_s, exchange_s, spans_nodes
from sim.cost.forms import gemm_s
from sim.cost.layers import LLAMA_KERNELS, Layers, Small
from sim.cost.layout import Layout
from sim.cost.operation import Kind, Operation
from sim.cost.residuals import Curve, grid_of
from sim.cost.roofline import Figures, Number
from sim.cost.work import ACTIVATION_BYTES, Gemm
from sim.hardware import FittedProfile, GpuProfile
from sim.hardware.fitted import CollectiveFit, Collectives, GemmFit
from sim.model import Model
from sim.precision import Precision
from sim.records import FloatArray


@dataclass(frozen=True, slots=True)
class Timed:
    """One kind of operation at one number of tokens, or at many: the fields of an `Operation`."""

    name: str
    count: int
    seconds: float | FloatArray
    flop: float | FloatArray = 0.0
    bytes_moved: float | FloatArray = 0.0
    activation_bytes: float | FloatArray = 0.0
    fixed_s: float = 0.0
    memory_s: float | FloatArray = 0.0
    compute_s: float | FloatArray = 0.0
    peak_flop_per_s: float = 1.0
    kind: Kind = "kernel"

    def operation(self) -> Operation:
        """Return the line of a pass; for one number of tokens."""
        return Operation(
            self.name,
            self.count,
            float(self.seconds),
            flop=float(self.flop),
            bytes_moved=float(self.bytes_moved),
            activation_bytes=float(self.activation_bytes),
            fixed_s=self.fixed_s,
            memory_s=float(self.memory_s),
            compute_s=float(self.compute_s),
            peak_flop_per_s=self.peak_flop_per_s,
            kind=self.kind,
        )


@dataclass(frozen=True, slots=True)
class Plain:
    """Operations of one rank as functions of the tokens in its lane of the pass."""

    model: Model
    gpu: GpuProfile
    fitted: FittedProfile
    layout: Layout
    layers: Layers
    _curves: dict[Gemm | tuple[str, int], Curve | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    def table(self, start: int, stop: int) -> list[float]:
        """Return the seconds of all operations for `start` to `stop` - 1 tokens."""
        tokens = np.arange(start, stop, dtype=np.float64)
        total = np.zeros(len(tokens))
        for timed in self.timed(tokens):
            total += timed.count * timed.seconds
        table: list[float] = total.tolist()
        return table

    def timed(self, tokens: Number) -> Iterator[Timed]:
        """Yield the products, the small kernels and the collectives of all layers."""
        for gemm, count in self.layers.gemms:
            yield self.gemm(gemm, tokens, count)
        for small, count in self.layers.small:
            yield self._small(small, tokens, count)
        yield from self._collectives(tokens)

    def peak(self, precision: Precision) -> float:
        """Return the dense peak of a format; 0 where the GPU has none (checked before)."""
        return self.gpu.peak_flop_per_s(precision) or 0.0

    def gemm(self, gemm: Gemm, tokens: Number, count: int) -> Timed:
        """Return a matrix product by its form and its residuals, never below its floor."""
        work, computed = gemm.work(tokens), gemm.format.computed
        fit, peak = self.fitted.gemm[computed], self.peak(computed)
        bandwidth = self.gpu.memory_bandwidth_bytes_per_s.value
        seconds = gemm_s(
            fit,
            tokens=tokens,
            inner=gemm.inner,
            outer=gemm.outer,
            weight_bytes=gemm.format.weight_bytes,
            input_bytes=gemm.format.input_bytes,
            flop_per_s=peak,
            bytes_per_s=bandwidth,
        )
        curve = self._curve_of(gemm, fit)
        if curve is not None:
            floor_s = np.maximum(work.flop / peak, work.bytes_moved / bandwidth)
            seconds = np.maximum(seconds * curve.factor(tokens), floor_s)
        return Timed(
            gemm.name,
            count,
            seconds,
            flop=work.flop,
            bytes_moved=work.bytes_moved,
            activation_bytes=work.activation_bytes,
            fixed_s=fit.fixed_s if fit.served_fixed_s is None else fit.served_fixed_s,
            memory_s=work.bytes_moved / (fit.bandwidth_efficiency * bandwidth),
            compute_s=work.flop / (fit.flop_efficiency * peak),
            peak_flop_per_s=peak,
        )

    def _curve_of(self, gemm: Gemm, fit: GemmFit) -> Curve | None:
        """Return the residuals of one product over its tokens; remembered."""
        if fit.residual is None:
            return None
        if gemm not in self._curves:
            grid = grid_of(fit.residual)
            self._curves[gemm] = grid.along("tokens", inner=gemm.inner, outer=gemm.outer)
        return self._curves[gemm]

    def _small(self, small: Small, tokens: Number, count: int) -> Timed:
        """Norms, rotary embedding, activation: a time per kernel, or the bytes if longer.

        The time per layer is that of a layer of Llama, with its five kernels. Two fused residual
        norms read 2 and write 2 tensors of the hidden size each; the gated activation reads
        two and writes one tensor of the MLP's width. Hyper-connections of n streams read 3 n + 1
        and write n + 1 around each block where they are fused: once for the coefficients, once for
        what goes in, and once with what comes out (our count of the kernels that mHC,
        arXiv:2512.24880, section 4.3, describes).
        """
        streams = self.model.residual_streams
        tensors = 8 if streams == 1 else 2 * (4 * streams + 2)
        tensors += 2 * small.norms
        moved = ACTIVATION_BYTES * (tensors * self.model.hidden_size + 3 * small.width) * tokens
        efficiency = self.fitted.gemm["bf16"].bandwidth_efficiency
        memory_s = moved / (efficiency * self.gpu.memory_bandwidth_bytes_per_s.value)
        overhead_s = self.fitted.layer_overhead_s * (small.kernels / LLAMA_KERNELS)
        return Timed(
            "small kernels",
            count,
            np.maximum(overhead_s, memory_s),
            bytes_moved=moved,
            activation_bytes=moved,
            fixed_s=overhead_s,
            memory_s=memory_s,
        )

    def _collectives(self, tokens: Number) -> Iterator[Timed]:
        """Sums over tensor-parallel ranks, exchange with the experts, hand-over of stages.

        Ranks fill a node before the next one; a group that spans nodes goes at the network's pace.
        """
        layout, layers = self.layout, self.layers
        tensor = tokens * self.model.hidden_size * ACTIVATION_BYTES
        for name, gpus in layout.exchanges(experts=bool(layers.experts)).items():
            fits, link = self._between(gpus)
            fit: CollectiveFit = getattr(fits, name)
            if name == "all_reduce":
                count = layers.all_reduces(layout)
                seconds = all_reduce_s(tensor, gpus, fit=fit, link_bytes_per_s=link)
                seconds = self._measured(name, gpus, fit, tensor, seconds, link)
                yield Timed("all-reduce", count, seconds, bytes_moved=tensor, kind="collective")
                if layers.reduced_norms:
                    yield self._norms(tokens, gpus)
            elif name == "point_to_point":
                seconds = fit.fixed_s + tensor / (fit.bandwidth_efficiency * link)
                label, count = "hand-over between stages", layout.pipeline - 1
                yield Timed(label, count, seconds, bytes_moved=tensor, kind="collective")
            else:
                for mlp, count in layers.experts:
                    copies = min(mlp.active, layout.expert) if layout.expert > 1 else gpus
                    moved = tensor * copies / layout.tensor
                    seconds = exchange_s(moved, gpus, fit=fit, link_bytes_per_s=link)
                    seconds = self._measured(name, gpus, fit, moved, seconds, link)
                    label = "exchange with the experts"
                    yield Timed(label, 2 * count, seconds, bytes_moved=moved, kind="collective")

    def _norms(self, tokens: Number, gpus: int) -> Timed:
        """Add up one sum of squares a token, in fp32, for norms as wide as all heads."""
        fits, link = self._between(gpus)
        moved, fit = 4.0 * tokens, fits.all_reduce
        seconds = all_reduce_s(moved, gpus, fit=fit, link_bytes_per_s=link)
        seconds = self._measured("all_reduce", gpus, fit, moved, seconds, link)
        count = self.layers.reduced_norms
        label = "all-reduce of norms"
        return Timed(label, count, seconds, bytes_moved=moved, kind="collective")

    def _measured(  # noqa: PLR0917  # private
        self,
        name: str,
        gpus: int,
        fit: CollectiveFit,
        moved: Figures,
        form_s: Figures,
        link: float,
    ) -> Figures:
        """Apply a collective's residuals; a tensor cannot pass a link faster than it takes."""
        if fit.residual is None:
            return form_s
        key = (name, gpus)
        if key not in self._curves:
            self._curves[key] = grid_of(fit.residual).along("bytes", ranks=gpus)
        curve = self._curves[key]
        if curve is None:
            return form_s
        floor_s = moved * ((gpus - 1) / gpus) / link
        seconds: Figures = np.maximum(form_s * curve.factor(moved), floor_s)
        return seconds

    def _between(self, gpus: int) -> tuple[Collectives, float]:
        """Return the fits and the one-way bandwidth of a group of GPUs: node or network."""
        network = self.gpu.network_one_way_bytes_per_s
        if network is None or not spans_nodes(gpus, self.gpu):
            return self.fitted, self.gpu.link_one_way_bytes_per_s.value
        return self.fitted.network, network.value
