"""In what precision a checkpoint stores each part of a model."""

from dataclasses import dataclass
from typing import Final, Literal

from sim.precision import Precision

Format = Precision
"""A format as checkpoints store it: `int4` has one scale per `group_elements`."""

Part = Literal[
    "attention", "attention_output", "recurrent", "dense_mlp", "shared_experts", "experts"
]
PARTS: Final[tuple[Part, ...]] = (
    "attention",
    "attention_output",
    "recurrent",
    "dense_mlp",
    "shared_experts",
    "experts",
)


@dataclass(frozen=True, slots=True)
class WeightFormat:
    """What the checkpoint stores, read from its config or side file.

    Norms, biases and the router are 16 bits wide everywhere.
    """

    layers: Format = "bf16"
    """Matrices of the layers, where no part says otherwise."""
    attention: Format | None = None
    """Override for attention projections; None: as `layers`. The same for the parts below."""
    attention_output: Format | None = None
    """The output projection; None: as `attention` (DeepSeek in NVFP4 quantises it alone)."""
    recurrent: Format | None = None
    dense_mlp: Format | None = None
    shared_experts: Format | None = None
    experts: Format | None = None
    """Routed experts."""
    embeddings: Format = "bf16"
    head: Format = "bf16"
    kv: Format | None = None
    """KV cache, where the checkpoint carries its scales or asks for a format; None: as the
    engine likes."""
    group_elements: int | None = None
    """Weights per scale; None: one scale per channel, tensor, or block of `fp8_block`."""
    zero_points: bool = False
    """Each group of integers has a zero point beside its scale (AWQ)."""
    weight_only: bool = False
    """Multiplied in 16 bits: only the weights are small, activations are not quantised."""
    mixed: tuple[str, ...] = ()
    """Parts that are stored in more than one format: the one of most of their weights is given
    above."""
    source: str = "bf16 assumed: nothing said"
    """Where this was read."""

    def of(self, part: Part) -> Format:
        """Return the format of a part of the layers."""
        override: Format | None = getattr(self, part)
        if override is None and part == "attention_output":
            override = self.attention
        return override or self.layers
