"""A GPU as its datasheet and its driver tell: peaks, never derated. Losses live in `fitted`."""

from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from sim.precision import HalfPrecision, Precision

__all__ = [
    "AsOf",
    "Fp4Format",
    "GpuProfile",
    "LinkKind",
    "NotNegative",
    "Positive",
    "Precision",
    "Source",
    "Sourced",
    "check_source",
]

Positive = Annotated[float, Gt(0), Field(allow_inf_nan=False)]
NotNegative = Annotated[float, Ge(0), Field(allow_inf_nan=False)]
AsOf = Annotated[str, StringConstraints(pattern=r"^(\d{4}-(0[1-9]|1[0-2])(-\d{2})?|undated)$")]
"""When the source said so: `YYYY-MM`, `YYYY-MM-DD` or `undated`."""
LinkKind = Literal["nvlink", "infinity_fabric", "pcie", "other"]
"""What joins the GPUs of a node."""
Fp4Format = Literal["mxfp4", "nvfp4"]


def check_source(source: str) -> str:
    """Return `source` if it is an https address or a citation that someone could look up."""
    if "://" in source and not source.startswith("https://"):
        raise ValueError("should be an https address or a citation")
    return source


Source = Annotated[str, StringConstraints(min_length=8, strip_whitespace=True)]


class Sourced(BaseModel):
    """A number that can be traced to the page it came from."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    value: Positive
    source: Source
    as_of: AsOf
    note: str | None = None
    """What to know about the figure: a conflict between sources, an assumption, a conversion."""

    _source = field_validator("source")(check_source)

    def scaled(self, factor: float) -> Self:
        """Return the same figure in another unit."""
        return self.model_copy(update={"value": self.value * factor})


class GpuProfile(BaseModel):
    """One GPU, in SI units: peaks as published, memory as the driver reports it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    vendor: str
    memory_bytes: Sourced
    """What the driver offers to a program, B: less than the gigabytes on the label."""
    memory_bandwidth_bytes_per_s: Sourced
    half_precision: HalfPrecision = "bf16"
    """The 16-bit format of the matrix units: `fp16` where they have no bf16 (T4, V100)."""
    bf16_dense_flop_per_s: Sourced
    """Without sparsity. Datasheets print the sparse figure, twice as high. Where
    `half_precision` is `fp16`, this is the fp16 peak, and its note says so."""
    fp16_dense_flop_per_s: Sourced | None = None
    """None: the same as in bf16."""
    fp8_dense_flop_per_s: Sourced | None = None
    """None: the GPU has no FP8 matrix units. The same goes for the formats below."""
    int8_dense_flop_per_s: Sourced | None = None
    fp4_dense_flop_per_s: Sourced | None = None
    fp4_formats: tuple[Fp4Format, ...] = ("mxfp4", "nvfp4")
    """Scalings that the FP4 units know, where there are any."""
    l2_bytes: Sourced | None = None
    """None: not published, or not found."""
    link_kind: LinkKind
    link_one_way_bytes_per_s: Sourced
    """Bandwidth to the node's other GPUs in one direction, B/s: half of what datasheets print."""
    gpus_per_node: Sourced
    """GPUs that reach one another over the link: 72 in an NVL72 rack, whatever a tray holds."""
    network_one_way_bytes_per_s: Sourced | None = None
    """Bandwidth of one GPU to other nodes in one direction, B/s; None: nobody knows yours."""
    tdp_w: Sourced

    def peak_flop_per_s(self, precision: Precision) -> float | None:
        """Return the dense peak in FLOP/s, or None where the matrix units lack the format.

        A GPU without bf16 gives its fp16 peak for `bf16` (see `half_precision`). `int4` is a
        format of weights only: products run in 16 bits, so there is no peak.
        """
        figure: Sourced | None
        match precision:
            case "bf16":
                figure = self.bf16_dense_flop_per_s
            case "fp16":
                figure = self.fp16_dense_flop_per_s or self.bf16_dense_flop_per_s
            case "fp8" | "fp8_block":
                figure = self.fp8_dense_flop_per_s
            case "int8":
                figure = self.int8_dense_flop_per_s
            case "mxfp4" | "nvfp4":
                figure = self.fp4_dense_flop_per_s if precision in self.fp4_formats else None
            case "int4":
                figure = None
        return None if figure is None else figure.value
