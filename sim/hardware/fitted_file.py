"""What a file of fitted coefficients may say, in µs and ns; what it leaves out is borrowed."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Self

from annotated_types import Ge, Le
from pydantic import Field, field_validator, model_validator

from sim.hardware.evidence import Evidence
from sim.hardware.fitted import Efficiency, FittedProfile, Frozen, Norm, Origin
from sim.hardware.profile import AsOf, Source, check_source
from sim.hardware.residual import ExpertShapes, Residual
from sim.precision import Precision
from sim.units import NS_PER_S, US_PER_S

Microseconds = Annotated[float, Ge(0), Le(10_000)]
Nanoseconds = Annotated[float, Ge(0), Le(10_000)]
_UNITS: Final = (("_us", US_PER_S), ("_ns", NS_PER_S))
FACTS = frozenset({"gpu", "engine", "origin", "source", "as_of", "note", "error"})
"""Keys that describe the file; all others are kernels."""
_NO_KERNELS: Final = FACTS | {"borrowed", "own"}


class _Fixed(Frozen):
    fixed_us: Microseconds
    evidence: Evidence | None = None


class GemmFile(_Fixed):
    """`GemmFit` with its times in µs and ns."""

    flop_efficiency: Efficiency
    bandwidth_efficiency: Efficiency
    p: Norm
    quantise_bandwidth_efficiency: Efficiency | None = None
    per_inner_ns: Nanoseconds = 0.0
    per_token_ns: Nanoseconds = 0.0
    served_fixed_us: Microseconds | None = None
    residual: Residual | None = None


class DecodeAttentionFile(_Fixed):
    """`DecodeAttentionFit` with its times in µs and ns."""

    bandwidth_efficiency: Efficiency
    flop_efficiency: Efficiency
    per_item_ns: Nanoseconds = 0.0
    computed: Precision = "bf16"
    residual: Residual | None = None


class ExpertsFile(_Fixed):
    """`ExpertsFit` with its time in µs."""

    bandwidth_efficiency: Efficiency
    flop_efficiency: Efficiency
    p: Norm = 1.0
    computed: Precision | None = None
    residual: ExpertShapes | None = None


class PrefillAttentionFile(_Fixed):
    """`PrefillAttentionFit` with its time in µs."""

    flop_efficiency: Efficiency
    bandwidth_efficiency: Efficiency | None = None
    p: Norm | None = None
    computed: Precision = "bf16"
    residual: Residual | None = None


class CollectiveFile(_Fixed):
    """`CollectiveFit` with its times in µs."""

    per_extra_rank_us: Microseconds
    bandwidth_efficiency: Efficiency
    residual: Residual | None = None


class CollectivesFile(Frozen):
    """Any of the collectives."""

    all_reduce: CollectiveFile | None = None
    all_gather: CollectiveFile | None = None
    reduce_scatter: CollectiveFile | None = None
    all_to_all: CollectiveFile | None = None
    point_to_point: CollectiveFile | None = None


class FittedFile(CollectivesFile):
    """Schema of `hardware_profiles/fitted/<gpu>__<engine>.yaml`: times in µs.

    Every kernel is optional, and so is every precision of one: a file holds what was fitted.
    """

    gpu: str
    engine: str
    origin: Origin
    source: Source
    as_of: AsOf
    note: str | None = None
    error: dict[str, Annotated[float, Ge(0)] | None] = Field(default_factory=dict)
    gemm: dict[Precision, GemmFile] | None = Field(default=None, min_length=1)
    experts: dict[Precision, ExpertsFile] | None = Field(default=None, min_length=1)
    decode_attention: dict[Precision, DecodeAttentionFile] | None = Field(
        default=None, min_length=1
    )
    latent_attention: dict[Precision, DecodeAttentionFile] | None = Field(
        default=None, min_length=1
    )
    recurrent: DecodeAttentionFile | None = None
    prefill_attention: dict[Precision, PrefillAttentionFile] | None = Field(
        default=None, min_length=1
    )
    latent_prefill: dict[Precision, PrefillAttentionFile] | None = Field(
        default=None, min_length=1
    )
    network: CollectivesFile | None = None
    layer_overhead_us: Microseconds | None = None

    _source = field_validator("source")(check_source)

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        if not self.model_fields_set - FACTS:
            raise ValueError("holds no kernel: add one, such as `gemm`")
        return self

    def to_profile(self, fallback: FittedProfile | None = None) -> FittedProfile:
        """Return the profile in SI units, completed from `fallback`.

        Without one the file must hold every kernel (the universal roofline does). What is filled
        in from a fit of the same GPU is as good as that fit; the rest is assumed.
        """
        if fallback is None:
            return FittedProfile.model_validate(_si(self.model_dump(exclude_none=True)))
        both, filled = self.completed(fallback)
        borrowed = filled if fallback.origin == "assumed" else filled & fallback.borrowed
        return both.model_copy(update={"borrowed": borrowed})

    def completed(self, fallback: FittedProfile) -> tuple[FittedProfile, frozenset[str]]:
        """Return the profile filled up from another, and the names of what was filled in."""
        own: dict[str, Any] = _si(self.model_dump(exclude_none=True))
        facts = {key: own.pop(key) for key in FACTS & own.keys()}
        kernels, filled = _completed(own, fallback.model_dump(exclude=set(_NO_KERNELS)))
        return FittedProfile.model_validate({**facts, **kernels}), filled


def part_names(profile: FittedProfile) -> Iterator[str]:
    """Yield the dotted names of all parts of a profile, such as `gemm.fp8`."""
    for key, value in profile.model_dump(exclude=set(_NO_KERNELS)).items():
        yield from _names(key, value)


def _si(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same mapping with every time in seconds."""
    found: dict[str, Any] = {}
    for key, value in content.items():
        unit = next(((end, per_s) for end, per_s in _UNITS if key.endswith(end)), None)
        if unit is not None:
            found[key.removesuffix(unit[0]) + "_s"] = value / unit[1]
        else:
            found[key] = _si(value) if isinstance(value, Mapping) else value
    return found


def _completed(
    own: Mapping[str, Any], fallback: Mapping[str, Any], prefix: str = ""
) -> tuple[dict[str, Any], frozenset[str]]:
    """Fill the kernels that `own` lacks; return all of them, and the names of those filled in.

    A fit is taken whole: its numbers belong together.
    """
    merged, borrowed = dict(own), set[str]()
    for key, value in fallback.items():
        if key not in own:
            merged[key] = value
            borrowed.update(_names(prefix + key, value))
        elif _holds_fits(value):
            merged[key], more = _completed(own[key], value, f"{prefix}{key}.")
            borrowed.update(more)
    return merged, frozenset(borrowed)


def _names(name: str, value: object) -> Iterator[str]:
    if isinstance(value, Mapping) and _holds_fits(value):
        for key, inner in value.items():
            yield from _names(f"{name}.{key}", inner)
    else:
        yield name.removesuffix("_s")


def _holds_fits(value: object) -> bool:
    return isinstance(value, Mapping) and "fixed_s" not in value
