"""How many kernels the host starts in a pass that no CUDA graph holds.

Kernels are counted as engines run them one by one, read in their model code (vLLM 0.24,
TensorRT-LLM 1.2 and SGLang 0.5: `deepseek_v2`, `modeling_deepseekv3`, `qwen3_next`, `llama`).
What one of them fuses more is in its time per kernel, which is one for all models.
"""

from dataclasses import dataclass

from sim.cost.attention import Attention
from sim.cost.formats import StoredAs
from sim.cost.layers import Layers
from sim.cost.layout import Layout
from sim.precision import Precision

_BY_BLOCKS: frozenset[Precision] = frozenset({"fp8_block", "nvfp4", "mxfp4"})
"""Formats whose activations get scales of their own by blocks: a kernel before each product."""
_EIGHT_BITS: frozenset[Precision] = frozenset({"fp8", "int8"})
"""Formats whose activations the kernel before may quantise, if the engine fuses it."""
_EXPERTS = 6
"""Routed experts: top-k, sorting of the tokens, product, activation, product, sum."""
_LATENT_PROMPT = 2
"""Latent attention over prompts is not absorbed: keys are put together, then attention."""


@dataclass(frozen=True, slots=True)
class Launches:
    """Kernels that each rank starts in a pass that no CUDA graph holds."""

    always: int
    """Products, small kernels, experts, states, collectives, LM head."""
    decode: int
    """More where sequences decode: their attention."""
    prompts: int
    """More where there are prompts: theirs."""

    def count(self, decoding: int, prompts: int) -> int:
        """Return the kernels of a pass with so many sequences that decode and so many prompts."""
        return self.always + (self.decode if decoding else 0) + (self.prompts if prompts else 0)


NO_LAUNCHES = Launches(0, 0, 0)


def launches_of(layers: Layers, layout: Layout, *, quantises: bool) -> Launches:
    """Count the kernels of a pass; `quantises`: 8-bit activations take a kernel of their own."""
    own = _BY_BLOCKS | (_EIGHT_BITS if quantises else frozenset())

    def quantised(part: StoredAs) -> int:
        return int(part.computed in own)

    products = sum(count * (1 + quantised(gemm.format)) for gemm, count in layers.gemms)
    small = sum(count * kinds.kernels for kinds, count in layers.small)
    experts = layers.expert_layers * (_EXPERTS + 2 * quantised(layers.expert_format))
    states = sum(count for _, count in layers.recurrent)
    kinds = layers.attention
    return Launches(
        always=products + small + experts + states + _collectives(layers, layout) + 1,
        decode=sum(kind.count for kind in kinds),
        prompts=sum(kind.count * _prompt_kernels(kind) for kind in kinds),
    )


def _collectives(layers: Layers, layout: Layout) -> int:
    found = layout.exchanges(experts=bool(layers.experts))
    count = 0
    if "all_reduce" in found:
        count += layers.all_reduces(layout) + layers.reduced_norms
    if "all_to_all" in found or "all_gather" in found:
        count += 2 * layers.expert_layers
    return count


def _prompt_kernels(kind: Attention) -> int:
    return _LATENT_PROMPT if kind.latent else 1
