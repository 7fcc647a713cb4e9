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
from sim.model import DenseMlp, Experts, GroupedQuery, Latent, Model, Recurrent
from sim.model.architecture import Layer
from sim.precision import Precision

LLAMA_KERNELS = 5
"""Small kernels of the layer that an engine's time per layer is of: two norms with their
residuals, the rotary embedding, the write to the KV cache, the activation."""
_INDEXER_KERNELS = 6
"""Of sparse attention: norm and rotary embedding of the indexer's keys and queries, their
quantisation, weights of the heads, write of the keys, top-k (`Indexer` of DeepSeek-V3.2)."""


class Small(NamedTuple):
    """What the small kernels of a layer work on."""

    width: float
    """Of the dense MLP's activation on this rank; 0 without one."""
    norms: int
    """Of the hidden size, beyond one for each block."""
    kernels: int = LLAMA_KERNELS
    """How many there are (see `small_kernels`)."""


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

    def all_reduces(self, layout: Layout) -> int:
        """Return how many tensors the ranks add up in a pass.

        Experts' too, unless an exchange with the ranks that split the attention brings them home.
        """
        alone = layout.attention_data == 1
        return self.reduced + (self.expert_layers if alone else 0)

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
        norms = max(0, group.layer.norm_elements // model.hidden_size - blocks)
        small[Small(width, norms, small_kernels(group.layer, norms))] += count
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


def small_kernels(layer: Layer, more_norms: int = 0) -> int:
    """Count the kernels of a layer that are no product, attention, expert or collective.

    One norm with its residual a block, and `more_norms`; those of the mixer; the activation of a
    dense MLP; activation and addition of shared experts, and their gate. Kernels inside routed
    experts (top-k, sorting, activation, sum) are in their timings. A layer of Llama has 5.
    """
    mlp = layer.mlp
    count = (layer.mixer is not None) + (mlp is not None) + more_norms
    if isinstance(mlp, DenseMlp):
        count += 1
    elif isinstance(mlp, Experts) and mlp.shared_intermediate_size:
        count += 2 + mlp.shared_gate
    return count + _mixer_kernels(layer)


def _mixer_kernels(layer: Layer) -> int:
    """Count those between the products of a mixer.

    Attention: rotary embedding and write to the cache; norms of queries and of keys; its gate.
    Latent attention has besides: norm of the latent, norm of the compressed query, and the parts
    with and without position put together. Recurrence: short convolution, gates, gated norm.
    """
    match layer.mixer:
        case GroupedQuery() as mixer:
            return 2 + (2 if mixer.qk_norm_elements else 0) + mixer.output_gate
        case Latent() as mixer:
            indexer = _INDEXER_KERNELS if mixer.indexer_heads else 0
            return 4 + (mixer.query_rank is not None) + indexer
        case Recurrent():
            return 3
        case None:
            return 0


def _norms_over_ranks(mixer: object) -> int:
    """Return the norms of a mixer that need the heads of all ranks: one of queries, one of keys.

    Norms one head wide need no other rank.
    """
    wide = isinstance(mixer, GroupedQuery) and mixer.qk_norm_elements > 2 * mixer.head_dim
    return 2 if wide else 0
