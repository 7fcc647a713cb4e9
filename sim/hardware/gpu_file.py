"""What a GPU's YAML file may say, in the units of datasheets; slips of units are refused."""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self

from annotated_types import MinLen
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from sim.hardware.profile import Fp4Format, GpuProfile, LinkKind, Sourced
from sim.units import GIB, GIGA, MIB, TERA

Band = tuple[float, float]
Ratio = Literal["fp8_to_half", "int8_to_half", "fp4_to_fp8"]

BANDS: Final[Mapping[str, Band]] = MappingProxyType(
    {
        "memory_gib": (8, 1024),
        "memory_bandwidth_tb_per_s": (0.1, 40),
        "bf16_dense_tflop_per_s": (20, 20_000),
        "fp16_dense_tflop_per_s": (20, 20_000),
        "fp8_dense_tflop_per_s": (40, 40_000),
        "int8_dense_tflop_per_s": (40, 40_000),
        "fp4_dense_tflop_per_s": (80, 80_000),
        "l2_mib": (1, 1024),
        "link_one_way_gb_per_s": (4, 4_000),
        "gpus_per_node": (1, 576),
        "network_one_way_gb_per_s": (1, 250),
        "tdp_w": (20, 5_000),
    }
)
"""No GPU ever sold leaves them, and none leaves room for a slip of 1000."""
FLOP_PER_BYTE: Final[Band] = (20, 1_500)
"""16-bit peak / memory bandwidth."""
SECONDS_TO_READ_MEMORY: Final[Band] = (0.008, 0.15)
LINK_SHARE: Final[Mapping[LinkKind, Band]] = MappingProxyType(
    {
        "nvlink": (0.04, 0.25),
        "infinity_fabric": (0.04, 0.25),
        "pcie": (0.01, 0.25),
        "other": (0.001, 1.0),
    }
)
"""Link in one direction / memory bandwidth. It leaves a slip of 8 (bits for bytes), and mostly
one of 2 (both directions), outside."""
PCIE_X16_GB_PER_S: Final[Band] = (12, 130)
"""One direction, Gen3 to Gen6."""
USUAL_RATIO: Final = 2.0
RATIO_TOLERANCE: Final = 0.05

Reason = Annotated[str, StringConstraints(min_length=20, strip_whitespace=True)]


class GpuFile(BaseModel):
    """Schema of `hardware_profiles/<gpu>.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    vendor: str
    memory_gib: Sourced
    memory_bandwidth_tb_per_s: Sourced
    bf16_dense_tflop_per_s: Sourced | None = None
    """Left out where the matrix units have no bf16: then `fp16_dense_tflop_per_s` is needed."""
    fp16_dense_tflop_per_s: Sourced | None = None
    fp8_dense_tflop_per_s: Sourced | None = None
    int8_dense_tflop_per_s: Sourced | None = None
    fp4_dense_tflop_per_s: Sourced | None = None
    fp4_formats: Annotated[tuple[Fp4Format, ...], MinLen(1)] = ("mxfp4", "nvfp4")
    unusual_ratios: dict[Ratio, Reason] = Field(default_factory=dict)
    """Why a peak is not twice that of the format twice as wide."""
    l2_mib: Sourced | None = None
    link_kind: LinkKind
    link_one_way_gb_per_s: Sourced
    gpus_per_node: Sourced
    network_one_way_gb_per_s: Sourced | None = None
    tdp_w: Sourced

    @model_validator(mode="after")
    def _plausible(self) -> Self:
        """Refuse what only a slip explains: of units, or a sparse figure beside a dense one."""
        problems = [*self._outside_bands()] or [*self._ill_matched()]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def half(self) -> Sourced:
        """The peak of the 16-bit format."""
        half = self.bf16_dense_tflop_per_s or self.fp16_dense_tflop_per_s
        if half is None:
            raise ValueError("give `bf16_dense_tflop_per_s`, or `fp16_dense_tflop_per_s` alone")
        return half

    def _outside_bands(self) -> Iterator[str]:
        for key, (low, high) in BANDS.items():
            figure: Sourced | None = getattr(self, key)
            if figure is not None and not low <= figure.value <= high:
                yield f"`{key}` is {figure.value:g}, outside {low:g} to {high:g}: check the unit"
        if self.gpus_per_node.value % 1:
            yield f"`gpus_per_node` is {self.gpus_per_node.value:g}, not a whole number"

    def _ill_matched(self) -> Iterator[str]:
        """Check figures against one another."""
        bandwidth = self.memory_bandwidth_tb_per_s.value * TERA
        low, high = FLOP_PER_BYTE
        intensity = self.half.value * TERA / bandwidth
        if not low <= intensity <= high:
            yield (
                f"the 16-bit peak is {intensity:g} FLOP per byte of `memory_bandwidth_tb_per_s`,"
                f" outside {low:g} to {high:g}: check the units"
            )
        low, high = SECONDS_TO_READ_MEMORY
        seconds = self.memory_gib.value * GIB / bandwidth
        if not low <= seconds <= high:
            yield (
                f"reading `memory_gib` once would take {seconds:g} s, outside {low:g} to {high:g}:"
                " check the units"
            )
        yield from self._ill_matched_link(bandwidth)
        yield from self._ill_matched_peaks()

    def _ill_matched_link(self, bandwidth: float) -> Iterator[str]:
        link = self.link_one_way_gb_per_s.value
        low, high = LINK_SHARE[self.link_kind]
        if not low <= link * GIGA / bandwidth <= high:
            yield (
                f"`link_one_way_gb_per_s` is {link:g}, {link * GIGA / bandwidth:.3g} of the memory"
                f" bandwidth, where {self.link_kind} has {low:g} to {high:g}: check for bits, or"
                " for both directions"
            )
        low, high = PCIE_X16_GB_PER_S
        if self.link_kind == "pcie" and not low <= link <= high:
            yield (
                f"`link_one_way_gb_per_s` is {link:g}, where 16 lanes of PCIe have {low:g} to"
                f" {high:g}: check for bits, or for both directions"
            )

    def _ill_matched_peaks(self) -> Iterator[str]:
        fp8, int8, fp4 = (
            self.fp8_dense_tflop_per_s,
            self.int8_dense_tflop_per_s,
            self.fp4_dense_tflop_per_s,
        )
        pairs: tuple[tuple[Ratio, Sourced | None, Sourced | None], ...] = (
            ("fp8_to_half", fp8, self.half),
            ("int8_to_half", int8, self.half),
            ("fp4_to_fp8", fp4, fp8),
        )
        for name, narrow, wide in pairs:
            if narrow is None or wide is None:
                usual, ratio = True, USUAL_RATIO
            else:
                ratio = narrow.value / wide.value
                usual = abs(ratio / USUAL_RATIO - 1) <= RATIO_TOLERANCE
            if not usual and name not in self.unusual_ratios:
                yield (
                    f"{name} of the peaks is {ratio:.3g}, not {USUAL_RATIO:g}: is one of them with"
                    f" sparsity? If it is right, say why under `unusual_ratios.{name}`"
                )
            if usual and name in self.unusual_ratios:
                yield f"`unusual_ratios.{name}` excuses a ratio that is usual, or not there"

    def to_profile(self) -> GpuProfile:
        """Return the profile in SI units."""
        return GpuProfile(
            name=self.name,
            vendor=self.vendor,
            memory_bytes=self.memory_gib.scaled(GIB),
            memory_bandwidth_bytes_per_s=self.memory_bandwidth_tb_per_s.scaled(TERA),
            half_precision="fp16" if self.bf16_dense_tflop_per_s is None else "bf16",
            bf16_dense_flop_per_s=self._half_in_flop_per_s(),
            fp16_dense_flop_per_s=_scaled(self.fp16_dense_tflop_per_s, TERA),
            fp8_dense_flop_per_s=_scaled(self.fp8_dense_tflop_per_s, TERA),
            int8_dense_flop_per_s=_scaled(self.int8_dense_tflop_per_s, TERA),
            fp4_dense_flop_per_s=_scaled(self.fp4_dense_tflop_per_s, TERA),
            fp4_formats=self.fp4_formats if self.fp4_dense_tflop_per_s else (),
            l2_bytes=_scaled(self.l2_mib, MIB),
            link_kind=self.link_kind,
            link_one_way_bytes_per_s=self.link_one_way_gb_per_s.scaled(GIGA),
            gpus_per_node=self.gpus_per_node,
            network_one_way_bytes_per_s=_scaled(self.network_one_way_gb_per_s, GIGA),
            tdp_w=self.tdp_w,
        )

    def _half_in_flop_per_s(self) -> Sourced:
        half = self.half.scaled(TERA)
        if self.bf16_dense_tflop_per_s is not None:
            return half
        note = "no bf16 matrix units: this is the fp16 peak"
        return half.model_copy(update={"note": f"{note}; {half.note}" if half.note else note})


def _scaled(figure: Sourced | None, factor: float) -> Sourced | None:
    return None if figure is None else figure.scaled(factor)
