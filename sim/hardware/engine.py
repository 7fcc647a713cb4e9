"""What a serving engine adds to the GPU: memory it keeps for itself, and time on the host."""

from typing import Annotated

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, field_validator

from sim.hardware.fitted import Origin
from sim.hardware.profile import AsOf, NotNegative, Source, check_source
from sim.units import GB, US_PER_S


class EngineProfile(BaseModel):
    """Host layer of a serving engine, in SI units."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    """Whose figures these are."""
    requested: str
    """The engine that was asked for; differs from `name` where it has no figures of its own."""
    origin: Origin
    source: Source
    as_of: AsOf
    memory_reserve_bytes: NotNegative
    """Kept per GPU for activations, graphs and runtime, out of the engine's share of memory, B."""
    host_s_per_pass: NotNegative
    host_s_per_sequence: NotNegative
    """Per pass, for each sequence in it."""
    note: str | None = None


class EngineFile(BaseModel):
    """Schema of `hardware_profiles/engines/<engine>.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    origin: Origin
    source: Source
    as_of: AsOf
    memory_reserve_gb: Annotated[float, Ge(0), Le(64)]
    host_us_per_pass: Annotated[float, Ge(0), Le(1_000_000)]
    host_us_per_sequence: Annotated[float, Ge(0), Le(100_000)]
    note: str | None = None

    _source = field_validator("source")(check_source)

    def to_profile(self) -> EngineProfile:
        """Return the profile in SI units."""
        return EngineProfile(
            name=self.name,
            requested=self.name,
            origin=self.origin,
            source=self.source,
            as_of=self.as_of,
            memory_reserve_bytes=self.memory_reserve_gb * GB,
            host_s_per_pass=self.host_us_per_pass / US_PER_S,
            host_s_per_sequence=self.host_us_per_sequence / US_PER_S,
            note=self.note,
        )
