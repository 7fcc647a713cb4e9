"""In what format each part of the model is stored and multiplied."""

from dataclasses import dataclass

from sim.deployment import Deployment
from sim.hardware import GpuProfile
from sim.model import Model
from sim.model.breakdown import stored_bits
from sim.model.weight_format import PARTS, Part
from sim.precision import BYTES_PER_WEIGHT, Precision

_SIXTEEN_BITS: tuple[Precision, ...] = ("bf16", "fp16")


@dataclass(frozen=True, slots=True)
class StoredAs:
    """One part of a model: its stored format and the one in which it is multiplied."""

    stored: Precision
    computed: Precision
    bits_per_weight: float | None = None
    """Scales and zero points included; None: as the format usually has them."""

    @property
    def weight_bytes(self) -> float:
        """Bytes per weight, scales and zero points included."""
        if self.bits_per_weight is not None:
            return self.bits_per_weight / 8
        return BYTES_PER_WEIGHT[self.stored]

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
    own: dict[Part, Precision] = {part: model.weights.of(part) for part in PARTS}
    if _as_published(model, weights):
        return own
    return dict.fromkeys(PARTS, weights)  # type: ignore[arg-type]  # checked by the schema


def _as_published(model: Model, weights: str) -> bool:
    return weights == "checkpoint" or weights in {model.weights.of(part) for part in PARTS}


def computed_in(stored: Precision, gpu: GpuProfile, asked: Precision | None = None) -> Precision:
    """Return the format in which the GPU multiplies: its own units for it, else 16 bits."""
    for wanted in (asked, stored):
        if wanted is not None and gpu.peak_flop_per_s(wanted) is not None:
            return wanted
    return "bf16"


def parts_of(model: Model, gpu: GpuProfile, deployment: Deployment) -> dict[Part, StoredAs]:
    """Return how each part is stored and computed on this GPU."""
    formats, published = stored_formats(model, deployment.weights), model.weights
    if not _as_published(model, deployment.weights):
        return {
            part: StoredAs(stored, computed_in(stored, gpu, deployment.compute))
            for part, stored in formats.items()
        }
    meant = deployment.compute or ("bf16" if published.weight_only else None)
    return {
        part: StoredAs(stored, computed_in(stored, gpu, meant), stored_bits(published, stored))
        for part, stored in formats.items()
    }
