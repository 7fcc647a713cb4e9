"""Workload presets: statistics of real traffic, one YAML each in `sim/catalog/workloads/`."""

from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Final, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, model_validator

from sim.records import FloatArray
from sim.workload.arrivals import OpenLoop
from sim.workload.tables import QuantileTable
from sim.yaml_files import find, list_names, read_yaml, validate

_CATALOG: Final = Path(__file__).parents[1] / "catalog" / "workloads"
SIDES: Final = ("input_tokens", "output_tokens")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Source(_Part):
    """Where the statistics come from."""

    title: str
    url: Annotated[str, Field(pattern=r"^https://")]
    licence: str
    as_of: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}){0,2}$")]
    """When the traffic was recorded."""


class ArrivalStatistics(_Part):
    """What was measured of the arrival times."""

    requests: Annotated[int, Ge(2)]
    span_s: Annotated[float, Gt(0)]
    """First to last arrival, s."""
    requests_per_s: Annotated[float, Gt(0)]
    gap_cv: Annotated[float, Ge(0)]
    """Standard deviation / mean of the gaps between arrivals (Poisson: 1)."""
    dispersion: dict[Annotated[float, Gt(0)], float]
    """Variance / mean of the requests per window, by window length in s (Poisson: 1)."""


class LengthStatistics(_Part):
    """Token counts of one side: moments, and quantiles at the file's probabilities."""

    mean: Annotated[float, Ge(1)]
    cv: Annotated[float, Ge(0)]
    quantiles: tuple[Annotated[float, Ge(1)], ...]


class WorkloadPreset(_Part):
    """Statistics from which traffic like the recorded one is drawn; no recording is shipped."""

    description: str
    source: Source
    computed: str
    """How the figures were computed."""
    notes: str = ""
    """What drawing from them does not reproduce."""
    arrivals: Annotated[OpenLoop, Field(discriminator="kind")] | None = None
    """Synthetic arrivals in the measured style; None where no process here comes near it."""
    measured_arrivals: ArrivalStatistics
    probabilities: tuple[Annotated[float, Ge(0), Le(1)], ...]
    input_tokens: LengthStatistics
    output_tokens: LengthStatistics
    spearman: Annotated[float, Ge(-1), Le(1)]
    """Rank correlation of input and output length."""
    joint_ranks: tuple[tuple[Annotated[int, Ge(0)], ...], ...]
    """Requests by rank class of their input (row) and output (column), both in equal classes."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _ = self.input_table, self.output_table
        size = len(self.joint_ranks)
        if size < 2 or any(len(row) != size or not sum(row) for row in self.joint_ranks):
            raise ValueError("needs `joint_ranks` as a square table without empty rows")
        return self

    @cached_property
    def input_table(self) -> QuantileTable:
        """Distribution of the input length."""
        return QuantileTable.of(self.probabilities, self.input_tokens.quantiles)

    @cached_property
    def output_table(self) -> QuantileTable:
        """Distribution of the output length."""
        return QuantileTable.of(self.probabilities, self.output_tokens.quantiles)

    @cached_property
    def rank_table(self) -> FloatArray:
        """Probability of each output class given the input class, one row each."""
        counts = np.array(self.joint_ranks, np.float64)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True), np.float64)


def list_workloads() -> tuple[str, ...]:
    """Return the names of the presets in the catalog, sorted."""
    return list_names(_CATALOG)


@cache
def load_workload_preset(name: str) -> WorkloadPreset:
    """Return the preset of that name, or of a YAML file of your own at that path."""
    path = find("workload", name, _CATALOG)
    return validate(WorkloadPreset, read_yaml(path), str(path))


def kind_of(part: object) -> object:
    """Return the `kind` of a part of a workload, whether it is still a mapping or validated."""
    return part.get("kind") if isinstance(part, Mapping) else getattr(part, "kind", None)


def expand_preset(name: str, given: Mapping[str, object]) -> dict[str, object]:
    """Return a workload with `preset: NAME` written out; `given` wins over the preset.

    `arrivals` without a `kind`, or of the preset's kind, amend those of the preset key by key.
    """
    own, arrivals = load_workload_preset(name).arrivals, given.get("arrivals")
    expanded: dict[str, object] = {side: {"kind": "quantiles", "preset": name} for side in SIDES}
    expanded |= {"length_correlation": name, **given}
    if own is None:
        if arrivals is None:
            raise ValueError(f"needs `arrivals`: the preset {name} has lengths only")
    elif arrivals is None:
        expanded["arrivals"] = own
    elif isinstance(arrivals, Mapping) and kind_of(arrivals) in {None, own.kind}:
        expanded["arrivals"] = {**own.model_dump(), **arrivals}
    return expanded
