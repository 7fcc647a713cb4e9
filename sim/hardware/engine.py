"""What a serving engine adds to the GPU: memory it keeps for itself, time on the host, habits."""

from typing import Annotated, Any, Final, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from sim.hardware.engine_options import EngineOptions, KvReserve, MemoryRule, SchedulerKind
from sim.hardware.fitted import Origin
from sim.hardware.profile import AsOf, NotNegative, Positive, Source, check_source
from sim.units import GB, MS_PER_S, US_PER_S

HabitOrigin = Literal["documented", "measured", "calibrated", "assumed"]
"""Documented: the engine's own documentation or source code says so."""
_BY_STRENGTH: Final = ("documented", "measured", "calibrated", "assumed")


class EngineProfile(BaseModel):
    """Host layer and habits of a serving engine, in SI units; `EngineOptions` explains them."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    """Whose figures these are."""
    requested: str
    """The engine that was asked for; differs from `name` where it has no figures of its own."""
    origin: Origin
    """Of the times on the host."""
    source: Source
    as_of: AsOf
    memory_reserve_bytes: NotNegative
    """Kept per GPU for activations, graphs and runtime, out of the engine's share of memory, B."""
    host_s_per_pass: NotNegative
    host_s_per_sequence: NotNegative
    """Per pass, for each sequence in it."""
    note: str | None = None
    memory_rule: MemoryRule = "share_of_memory"
    memory_fraction: Positive = 0.9
    kv_reserve: KvReserve = "on_demand"
    scheduler: SchedulerKind = "chunked_prefill"
    graph_batch_sizes: tuple[int, ...] = ()
    eager_host_s_per_pass: NotNegative = 0.0
    asynchronous: bool = False
    host_s_per_prefill_pass: NotNegative = 0.0
    host_s_per_prompt: NotNegative = 0.0
    host_s_per_launch: NotNegative = 0.0
    small_kernels_s_per_layer: NotNegative | None = None
    """None: as the kernel layer has it."""
    all_reduce_of: str | None = None
    mxfp4_experts_of: str | None = None
    fp8_block_experts_of: str | None = None
    quantise_s_per_product: NotNegative = 0.0
    expert_prompt_factor: NotNegative = 1.0
    stream_interval_tokens: Annotated[int, Ge(1)] = 1
    stream_first_token: bool = False
    pick_up_passes: Annotated[int, Ge(0)] = 0
    pick_up_every_passes: Annotated[int, Ge(1)] = 1
    hold_passes: Annotated[int, Ge(0)] = 0
    hold_token_share: NotNegative = 1.0
    front_end_s_per_token: NotNegative = 0.0
    ttft_offset_s: NotNegative = 0.0
    tokenise_s_per_token: NotNegative = 0.0
    error: tuple[tuple[str, float], ...] = ()
    """Errors of served tokens that the preset's times were found with, on runs left out of the
    fit: fractions, under the names of `sim.hardware.uncertainty`."""
    told_by: tuple[tuple[str, HabitOrigin, str], ...] = ()
    """(key, origin, source) of every setting, keys as in `EngineOptions`."""

    def with_options(self, options: EngineOptions) -> Self:
        """Return the engine with what a scenario sets; its origin there is the scenario."""
        chosen = options.chosen
        if not chosen:
            return self
        told = tuple(row for row in self.told_by if row[0] not in chosen)
        mine: tuple[tuple[str, HabitOrigin, str], ...] = tuple(
            (name, "assumed", "set in the scenario (engine_options)") for name in chosen
        )
        return self.model_copy(update={**_in_si(chosen), "told_by": (*told, *mine)})


def _in_si(options: dict[str, Any]) -> dict[str, Any]:
    """Return values under the names and in the units of `EngineProfile`."""
    converted: dict[str, Any] = {}
    for name, value in options.items():
        if name == "front_end_tokens_per_s":
            converted["front_end_s_per_token"] = 0.0 if value == "unlimited" else 1.0 / value
        elif name == "ttft_offset_ms":
            converted["ttft_offset_s"] = value / MS_PER_S
        elif "_us_per_" in name:
            converted[name.replace("_us_per_", "_s_per_")] = value / US_PER_S
        elif name.endswith("_gb"):
            converted[f"{name.removesuffix('_gb')}_bytes"] = value * GB
        else:
            converted[name] = value
    return converted


class Setting(BaseModel):
    """One value of a preset, and who says so."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    value: bool | float | str | tuple[int, ...]
    origin: HabitOrigin
    source: Source

    _source = field_validator("source")(check_source)


class EngineFile(BaseModel):
    """Schema of `hardware_profiles/engines/<engine>.yaml`.

    A setting is a value with its origin and source, or the value alone: then those of the file
    hold for it. What is left out is as in the generic engine: no time, no habit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    origin: Origin
    source: Source
    as_of: AsOf
    note: str | None = None
    error: dict[str, Annotated[float, Gt(0), Le(1)]] = Field(default_factory=dict)
    """`tpot_left_out_mean_ape` (models left out of the fit), `tpot_median_ape` or `tpot_mean_ape`
    of serving runs; holds with the engine's own fits."""
    settings: dict[str, Setting]
    """Keys of `EngineOptions`."""

    _source = field_validator("source")(check_source)

    @model_validator(mode="before")
    @classmethod
    def _of_the_file(cls, given: Any) -> Any:  # noqa: ANN401  # a parsed document
        """Give bare values the origin and source of the file."""
        if not isinstance(given, dict) or not isinstance(given.get("settings"), dict):
            return given
        said = {"origin": given.get("origin"), "source": given.get("source")}
        settings = {
            key: value if isinstance(value, dict) else {"value": value, **said}
            for key, value in given["settings"].items()
        }
        return {**given, "settings": settings}

    @model_validator(mode="after")
    def _settings_are_options(self) -> Self:
        try:
            options = self._options()
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            key = ".".join(str(part) for part in first["loc"][:1])
            msg = f"holds a setting `{key}` that is not right: {first['msg']}"
            raise ValueError(msg) from None
        missing = {"memory_reserve_gb", "host_us_per_pass", "host_us_per_sequence"}
        missing -= set(options.chosen)
        if missing:
            msg = f"lacks the settings {', '.join(sorted(missing))}"
            raise ValueError(msg)
        return self

    def _options(self) -> EngineOptions:
        return EngineOptions.model_validate({key: s.value for key, s in self.settings.items()})

    def to_profile(self) -> EngineProfile:
        """Return the profile in SI units."""
        return EngineProfile(
            name=self.name,
            requested=self.name,
            origin=self.origin,
            source=self.source,
            as_of=self.as_of,
            note=self.note,
            error=tuple(self.error.items()),
            told_by=tuple((key, s.origin, s.source) for key, s in self.settings.items()),
            **_in_si(self._options().chosen),
        )


def weakest(origins: tuple[HabitOrigin, ...]) -> HabitOrigin:
    """Return the weakest of some origins."""
    return max(origins, key=_BY_STRENGTH.index)
