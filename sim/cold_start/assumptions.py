"""What is assumed of a cold start: each figure with its range, source and date."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

import hardware_profiles
from sim.yaml_files import find, list_names, read_yaml, validate

FOLDER: Final = Path(hardware_profiles.__file__).resolve().parent / "cold_start"
Loader = Literal["safetensors", "streamer", "tensorizer", "page_cache"]
"""How weights get from storage into the GPUs."""
Figure = Annotated[float, Ge(0), Le(1e6)]


class Range(BaseModel):
    """A figure between the lowest and the highest that is published or thought possible."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    value: Figure
    low: Figure
    high: Figure
    source: Annotated[str, StringConstraints(min_length=8, strip_whitespace=True)]
    as_of: Annotated[str, StringConstraints(pattern=r"^(\d{4}-\d{2}(-\d{2})?|undated)$")]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value:g} is not between {self.low:g} and {self.high:g}")
        return self


class Rate(Range):
    """A range of what something is divided by."""

    @model_validator(mode="after")
    def _above_nothing(self) -> Self:
        if self.low <= 0:
            raise ValueError("should be above 0 at its low end")
        return self


class Assumptions(BaseModel):
    """Schema of `hardware_profiles/cold_start/<name>.yaml`; sizes in GB, rates in GB/s."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    provision_s: Range
    image_gb: Range
    image_gb_per_s: Rate
    storage_gb_per_s: Rate
    loader_gb_per_s: Mapping[Loader, Rate] = Field(min_length=1)
    engine_init_s: Range
    compile_s_per_layer: Range
    graph_capture_s: Range
    warm_up_s: Range


def list_assumptions() -> tuple[str, ...]:
    """Return the names of the shipped sets."""
    return list_names(FOLDER)


def load_assumptions(reference: str | Path) -> Assumptions:
    """Return a shipped set by its name, or one of the user's own by its path."""
    path = find("cold_start", reference, FOLDER)
    return validate(Assumptions, read_yaml(path), str(path))
