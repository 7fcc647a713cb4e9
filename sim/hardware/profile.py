"""A GPU as its datasheet and its driver tell: peaks, never derated. Losses live in `fitted`."""

from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from sim.units import GIB, GIGA, MIB, TERA

Precision = Literal["bf16", "fp8"]
"""Precision of a matrix product or of the KV cache."""
Positive = Annotated[float, Gt(0), Field(allow_inf_nan=False)]
NotNegative = Annotated[float, Ge(0), Field(allow_inf_nan=False)]
AsOf = Annotated[str, StringConstraints(pattern=r"^(\d{4}-(0[1-9]|1[0-2])(-\d{2})?|undated)$")]
"""When the source said so: `YYYY-MM`, `YYYY-MM-DD` or `undated`."""


def check_source(source: str) -> str:
    """Return `source` if it is an https address or a citation that someone could look up."""
    if "://" in source and not source.startswith("https://"):
        raise ValueError("should be an https address or a citation")
    return source


Source = Annotated[str, StringConstraints(min_length=8, strip_whitespace=True)]


class Sourced(BaseModel):
    """A number that can be traced to the page it came from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    vendor: str
    memory_bytes: Sourced
    """What the driver offers to a program, B: less than the gigabytes on the label."""
    memory_bandwidth_bytes_per_s: Sourced
    bf16_dense_flop_per_s: Sourced
    """Without sparsity. Datasheets print the sparse figure, twice as high."""
    fp8_dense_flop_per_s: Sourced | None = None
    """None: the GPU has no FP8 matrix units."""
    l2_bytes: Sourced | None = None
    link_one_way_bytes_per_s: Sourced
    """Bandwidth to the node's other GPUs in one direction, B/s: half of what datasheets print."""
    gpus_per_node: Sourced
    tdp_w: Sourced

    def peak_flop_per_s(self, precision: Precision) -> float | None:
        """Return the dense peak in FLOP/s, or None where the GPU lacks the precision."""
        if precision == "bf16":
            return self.bf16_dense_flop_per_s.value
        return None if self.fp8_dense_flop_per_s is None else self.fp8_dense_flop_per_s.value


class GpuFile(BaseModel):
    """Schema of `hardware_profiles/<gpu>.yaml`: the same figures in the units of datasheets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    vendor: str
    memory_gib: Sourced
    memory_bandwidth_tb_per_s: Sourced
    bf16_dense_tflop_per_s: Sourced
    fp8_dense_tflop_per_s: Sourced | None = None
    l2_mib: Sourced | None = None
    link_one_way_gb_per_s: Sourced
    gpus_per_node: Sourced
    tdp_w: Sourced

    @model_validator(mode="after")
    def _plausible(self) -> Self:
        """Refuse what only a slip of units explains (bands that no GPU ever sold leaves)."""
        bands = {
            "memory_gib": (8, 1024),
            "memory_bandwidth_tb_per_s": (0.1, 40),
            "bf16_dense_tflop_per_s": (20, 20_000),
            "fp8_dense_tflop_per_s": (40, 40_000),
            "l2_mib": (1, 1024),
            "link_one_way_gb_per_s": (4, 4_000),
            "gpus_per_node": (1, 1152),
            "tdp_w": (20, 5_000),
        }
        for key, (low, high) in bands.items():
            figure: Sourced | None = getattr(self, key)
            if figure is not None and not low <= figure.value <= high:
                problem = f"`{key}` is {figure.value:g}, outside {low:g} to {high:g}"
                raise ValueError(f"{problem}: check the unit")
        return self

    def to_profile(self) -> GpuProfile:
        """Return the profile in SI units."""
        fp8, l2 = self.fp8_dense_tflop_per_s, self.l2_mib
        return GpuProfile(
            name=self.name,
            vendor=self.vendor,
            memory_bytes=self.memory_gib.scaled(GIB),
            memory_bandwidth_bytes_per_s=self.memory_bandwidth_tb_per_s.scaled(TERA),
            bf16_dense_flop_per_s=self.bf16_dense_tflop_per_s.scaled(TERA),
            fp8_dense_flop_per_s=fp8 and fp8.scaled(TERA),
            l2_bytes=l2 and l2.scaled(MIB),
            link_one_way_bytes_per_s=self.link_one_way_gb_per_s.scaled(GIGA),
            gpus_per_node=self.gpus_per_node,
            tdp_w=self.tdp_w,
        )
