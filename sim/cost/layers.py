"""The parts of a model's layers on one rank, like ones counted together."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from sim.cost.attention import Attention, attention_kinds
from sim.cost.formats import StoredAs, parts_of
from sim.cost.layout import Layout
from sim.cost.work import Gemm, head_gemm, mixer_gemms, mlp_gemms
from sim.deployment import Deployment
from sim.hardware import GpuProfile
from sim.model import DenseMlp, Experts, GroupedQuery, Model, Recurrent
from sim.precision import Precision


class Small(NamedTuple):
    """What the small kernels of a layer work on."""

    width: float
    """Of the dense MLP's activation on this rank; 0 without one."""
    norms: int
    """Of the hidden size, beyond one for each block."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Everything that one pass goes through, per rank; each with how many there are."""

    gemms: tuple[tuple[Gemm, int], ...]
    experts: tuple[tuple[Experts, int], ...]
    expert_format: StoredAs
    recurrent: tuple[tuple[Recurrent, int], ...]
    small: tuple[tuple[Small, int], ...]
    attention: tuple[Attention, ...]
    head: Gemm
    reduced: int
    """Tensors that the ranks add up: one a mixer, one a dense MLP, the embedding."""
    reduced_norms: int
    """Sums of squares that the ranks add up: norms of queries and keys over all their heads."""
    expert_layers: int
    hidden_size: int

    @property
    def compute_precision(self) -> Precision:
        """Format in which most weights are multiplied."""
        weights: dict[Precision, float] = {}
        for gemm, count in self.gemms:
            known = weights.get(gemm.format.computed, 0.0)
            weights[gemm.format.computed] = known + count * gemm.weight_elements
        for mlp, count in self.experts:
            computed = self.expert_format.computed
            elements = count * mlp.experts * mlp.expert_elements(self.hidden_size)
            weights[computed] = weights.get(computed, 0.0) + elements
        return max(weights, key=lambda precision: weights[precision])

    @property
    def weight_only(self) -> tuple[str, ...]:
        """Stored formats that save bytes only: the GPU multiplies them in 16 bits."""
        formats = {gemm.format for gemm, _ in self.gemms}
        if self.experts:
            formats.add(self.expert_format)
        return tuple(sorted({part.stored for part in formats if part.weight_only}))


def layers_of(model: Model, gpu: GpuProfile, deployment: Deployment) -> Layers:
    """Split a model over the ranks of a deployment."""
    layout, formats = Layout.of(deployment), parts_of(model, gpu, deployment)
    gemms: Counter[Gemm] = Counter()
    experts: Counter[Experts] = Counter()
    recurrent: Counter[Recurrent] = Counter()
    small: Counter[Small] = Counter()
    reduced, reduced_norms = 1, 0
    for group in model.groups:
        mixer, mlp, count = group.layer.mixer, group.layer.mlp, group.count
        for gemm in (
            *mixer_gemms(mixer, model.hidden_size, layout, formats),
            *mlp_gemms(mlp, model.hidden_size, layout, formats),
        ):
            gemms[gemm] += count
        if isinstance(mlp, Experts):
            experts[mlp] += count
        if isinstance(mixer, Recurrent):
            recurrent[mixer] += count
        dense = isinstance(mlp, DenseMlp)
        width = mlp.intermediate_size / layout.tensor if isinstance(mlp, DenseMlp) else 0.0
        blocks = (mixer is not None) + (mlp is not None)
        norms = group.layer.norm_elements // model.hidden_size
        small[Small(width, max(0, norms - blocks))] += count
        reduced += count * ((mixer is not None) + dense)
        reduced_norms += count * _norms_over_ranks(mixer)
    return Layers(
        gemms=tuple(gemms.items()),
        experts=tuple(experts.items()),
        expert_format=formats["experts"],
        recurrent=tuple(recurrent.items()),
        small=tuple(small.items()),
        attention=attention_kinds(model, layout, deployment.kv_precision),
        head=head_gemm(model, layout),
        reduced=reduced,
        reduced_norms=reduced_norms,
        expert_layers=sum(experts.values()),
        hidden_size=model.hidden_size,
    )


def _norms_over_ranks(mixer: object) -> int:
    """Return the norms of a mixer that need the heads of all ranks: one of queries, one of keys.

    Norms one head wide need no other rank.
    """
    wide = isinstance(mixer, GroupedQuery) and mixer.qk_norm_elements > 2 * mixer.head_dim
    return 2 if wide else 0
