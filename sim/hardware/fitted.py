"""What a GPU's kernels reach of its peaks: few, physical numbers, each within its bounds.

P is the dense peak in FLOP/s, BW the memory bandwidth in B/s, F the work in FLOP, B the bytes
moved.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, field_validator

from sim.hardware.profile import AsOf, NotNegative, Precision, Source, check_source
from sim.units import US_PER_S

Efficiency = Annotated[float, Gt(0), Le(1)]
"""Share of a peak that is reached."""
Norm = Annotated[float, Ge(1), Field(allow_inf_nan=False)]
Origin = Literal["calibrated", "assumed", "measured"]
"""measured: on the user's own GPU; calibrated: fitted elsewhere; assumed: neither."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class GemmFit(_Frozen):
    """t = fixed + ((F / (flop_efficiency P))^p + (B / (bandwidth_efficiency BW))^p)^(1/p)."""

    fixed_s: NotNegative
    flop_efficiency: Efficiency
    bandwidth_efficiency: Efficiency
    p: Norm
    """Sharpness of the ridge: 1 adds the two times, infinity takes the larger."""


class DecodeAttentionFit(_Frozen):
    """t = fixed + max(KV bytes / (bandwidth_efficiency BW), F / (flop_efficiency P))."""

    fixed_s: NotNegative
    bandwidth_efficiency: Efficiency
    flop_efficiency: Efficiency
    """Only binds with many query positions per sequence (verification, diffusion blocks)."""


class PrefillAttentionFit(_Frozen):
    """t = fixed + F / (flop_efficiency P), in bf16 whatever the precision of the weights."""

    fixed_s: NotNegative
    flop_efficiency: Efficiency


class AllReduceFit(_Frozen):
    """t = fixed + per_extra_rank (n - 2) + 2 (n - 1) / n bytes / (bandwidth_efficiency link)."""

    fixed_s: NotNegative
    per_extra_rank_s: NotNegative
    bandwidth_efficiency: Efficiency
    """Share of the one-way link bandwidth."""


class FittedProfile(_Frozen):
    """Kernel layer of one GPU under one engine's kernels, in SI units."""

    gpu: str
    engine: str
    """Whose kernels were fitted; `generic` where they are nobody's in particular."""
    origin: Origin
    source: Source
    as_of: AsOf
    note: str | None = None
    error: Mapping[str, float | None] = Field(default_factory=dict)
    """Held-out errors as fractions, by name; None: not established yet."""
    gemm: Mapping[Precision, GemmFit]
    decode_attention: Mapping[Precision, DecodeAttentionFit]
    """By precision of the KV cache."""
    prefill_attention: PrefillAttentionFit
    all_reduce: AllReduceFit
    layer_overhead_s: NotNegative
    """Small kernels (norms, activations, rotations), per layer and pass."""

    _source = field_validator("source")(check_source)


class _FixedUs(_Frozen):
    fixed_us: Annotated[float, Ge(0), Le(10_000)]

    def si(self) -> dict[str, float]:
        """Return the same figures with every time in seconds."""
        return {
            key.removesuffix("_us") + "_s" if key.endswith("_us") else key: (
                value / US_PER_S if key.endswith("_us") else value
            )
            for key, value in self.model_dump().items()
        }


class GemmFile(_FixedUs):
    """`GemmFit` with its time in µs."""

    flop_efficiency: Efficiency
    bandwidth_efficiency: Efficiency
    p: Norm


class DecodeAttentionFile(_FixedUs):
    """`DecodeAttentionFit` with its time in µs."""

    bandwidth_efficiency: Efficiency
    flop_efficiency: Efficiency


class PrefillAttentionFile(_FixedUs):
    """`PrefillAttentionFit` with its time in µs."""

    flop_efficiency: Efficiency


class AllReduceFile(_FixedUs):
    """`AllReduceFit` with its times in µs."""

    per_extra_rank_us: Annotated[float, Ge(0), Le(10_000)]
    bandwidth_efficiency: Efficiency


class FittedFile(_Frozen):
    """Schema of `hardware_profiles/fitted/<gpu>__<engine>.yaml`: times in µs."""

    gpu: str
    engine: str
    origin: Origin
    source: Source
    as_of: AsOf
    note: str | None = None
    error: dict[str, Annotated[float, Ge(0)] | None] = Field(default_factory=dict)
    gemm: dict[Precision, GemmFile] = Field(min_length=1)
    decode_attention: dict[Precision, DecodeAttentionFile] = Field(min_length=1)
    prefill_attention: PrefillAttentionFile
    all_reduce: AllReduceFile
    layer_overhead_us: Annotated[float, Ge(0), Le(10_000)]

    _source = field_validator("source")(check_source)

    def to_profile(self) -> FittedProfile:
        """Return the profile in SI units."""
        attention = self.decode_attention.items()
        return FittedProfile(
            gpu=self.gpu,
            engine=self.engine,
            origin=self.origin,
            source=self.source,
            as_of=self.as_of,
            note=self.note,
            error=self.error,
            gemm={key: GemmFit(**fit.si()) for key, fit in self.gemm.items()},
            decode_attention={key: DecodeAttentionFit(**fit.si()) for key, fit in attention},
            prefill_attention=PrefillAttentionFit(**self.prefill_attention.si()),
            all_reduce=AllReduceFit(**self.all_reduce.si()),
            layer_overhead_s=self.layer_overhead_us / US_PER_S,
        )
