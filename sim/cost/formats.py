"""In what format each part of the model is stored and multiplied."""

from dataclasses import dataclass

from sim.deployment import Deployment
from sim.hardware import GpuProfile
from sim.model import Model
from sim.model.weight_format import PARTS, Part, WeightFormat
from sim.precision import BYTES_PER_WEIGHT, Precision, bits_per_weight

_SIXTEEN_BITS: tuple[Precision, ...] = ("bf16", "fp16")


@dataclass(frozen=True, slots=True)
class StoredAs:
    """One part of a model: its stored format and the one in which it is multiplied."""

    stored: Precision
    computed: Precision
    bits: float | None = None
    """Bits per weight of a checkpoint that groups its weights in its own way."""

    @property
    def weight_bytes(self) -> float:
        """Bytes per weight, scales included."""
        return BYTES_PER_WEIGHT[self.stored] if self.bits is None else self.bits / 8

    @property
    def input_bytes(self) -> float:
        """Bytes per activation that goes into the product."""
        return BYTES_PER_WEIGHT[self.computed] if self.computed != "fp8_block" else 1.0

    @property
    def weight_only(self) -> bool:
        """Whether the format saves bytes only: the GPU multiplies in 16 bits."""
        return self.stored not in _SIXTEEN_BITS and self.computed in _SIXTEEN_BITS


def stored_formats(model: Model, weights: str) -> dict[Part, Precision]:
    """Return the format of each part under the scenario's `weights`.

    `checkpoint` takes the published formats. So does a format that the checkpoint itself uses in
    any part: a "mxfp4" gpt-oss keeps its attention in bf16. Any other format is applied to all
    matrices of the layers, as engines quantise.
    """
    published: WeightFormat = model.weights
    own: dict[Part, Precision] = {part: published.of(part) for part in PARTS}
    if weights == "checkpoint" or weights in own.values():
        return own
    return dict.fromkeys(PARTS, weights)  # type: ignore[arg-type]  # checked by the schema


def computed_in(stored: Precision, gpu: GpuProfile, asked: Precision | None = None) -> Precision:
    """Return the format in which the GPU multiplies: its own units for it, else 16 bits."""
    for wanted in (asked, stored):
        if wanted is not None and gpu.peak_flop_per_s(wanted) is not None:
            return wanted
    return "bf16"


def parts_of(model: Model, gpu: GpuProfile, deployment: Deployment) -> dict[Part, StoredAs]:
    """Return how each part is stored and computed on this GPU."""
    formats = stored_formats(model, deployment.weights)
    own = all(model.weights.of(part) == stored for part, stored in formats.items())
    return {
        part: StoredAs(
            stored,
            computed_in(stored, gpu, deployment.compute),
            _grouped_bits(stored, model.weights) if own else None,
        )
        for part, stored in formats.items()
    }


def _grouped_bits(stored: Precision, published: WeightFormat) -> float | None:
    """Return the bits per weight where the checkpoint says how many weights share a scale."""
    group = published.group_elements
    if group is None:
        return None
    if stored == "int4":  # a 16-bit scale for each group; AWQ adds a zero point
        return 4 + (16 + 4 * published.zero_points) / group
    return bits_per_weight(stored, group)
