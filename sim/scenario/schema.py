"""The scenario file: what users write, keys and units as they stand in YAML."""

from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sim.cold_start import ColdStart
from sim.decoding import AnyStrategy, Autoregressive
from sim.deployment import Deployment
from sim.economics.prices import PriceChoice
from sim.engine.schedulers import AnyScheduler
from sim.hardware import EngineOptions
from sim.metrics.pipeline import Pipeline
from sim.metrics.slo import Slo
from sim.workload import Trace, Workload
from sim.yaml_files import validate

Metric = Literal[
    "ttft_mean_ms", "ttft_p50_ms", "ttft_p90_ms", "ttft_p99_ms",
    "tpot_mean_ms", "tpot_p50_ms", "tpot_p90_ms", "tpot_p99_ms",
    "max_gap_mean_ms", "max_gap_p50_ms", "max_gap_p90_ms", "max_gap_p99_ms",
    "ttlt_mean_ms", "ttlt_p50_ms", "ttlt_p90_ms", "ttlt_p99_ms",
    "requests_per_s", "output_tokens_per_s", "user_tokens_per_s", "attainment",
]  # fmt: skip
"""Figures of a run that have an interval."""


class RunSettings(BaseModel):
    """How long to simulate, and with which random numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    requests: Annotated[int, Ge(1), Le(100_000_000)] = 5000
    """Requests to simulate (a trace brings its own)."""
    seed: Annotated[int, Ge(0), Le(2**31 - 1)] = 0
    seeds: Annotated[int, Ge(1), Le(10_000)] | None = None
    """Runs with seeds of their own, from `seed` on; with `precision`, so many at most."""
    precision: Annotated[float, Gt(0), Lt(1)] | None = None
    """Add runs until half the 90 % interval of `metric` is this share of it or less."""
    metric: Metric | None = None
    """What `precision` speaks of [ttft_p99_ms]."""


class Scenario(BaseModel):
    """One question: this model on this hardware, this traffic, these targets, this price."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str = "unnamed"
    description: str | None = None
    model: str | dict[str, Any]
    """Catalog name, alias, path of a config.json or its folder; or the facts, or the content of a
    config.json, inline."""
    hardware: str
    """Name of a GPU profile, or path of your own."""
    engine: str = "generic"
    engine_options: EngineOptions = Field(default_factory=EngineOptions)
    """Habits that differ from those of the engine's preset."""
    scheduler: AnyScheduler | None = None
    """What goes into a pass; None: as the engine does it."""
    fitted: str | None = None
    """Path (or name) of a fit, laid over that of GPU and engine part by part; None: that alone."""
    # Defaults need no validation: a validator of each would be built at import.
    deployment: Deployment = Deployment.model_construct()
    decoding: AnyStrategy = Autoregressive.model_construct()
    strategies: tuple[AnyStrategy, ...] = ()
    """Strategies that `frontier` sweeps besides `decoding`."""
    workload: Workload
    slo: Slo = Slo.model_construct()
    pipeline: Pipeline = Pipeline.model_construct()
    prices: PriceChoice | None = None
    cold_start: ColdStart | None = None
    """What is known of the start of a replica (`paretoken coldstart`); runs are warm."""
    run: RunSettings = Field(default_factory=RunSettings)

    @field_validator("name", "model", "hardware", "engine", "fitted")
    @classmethod
    def _one_line(cls, value: str | dict[str, Any] | None) -> str | dict[str, Any] | None:
        """Refuse names of nothing, and those that would break a sentence or a table."""
        if isinstance(value, str) and not value.strip():
            raise ValueError("is empty")
        if isinstance(value, str) and not value.isprintable():
            raise ValueError("should be one line of printable characters")
        return value

    @model_validator(mode="after")
    def _tell_strategies_the_mix(self) -> Self:
        object.__setattr__(self, "decoding", self.decoding.among(self.workload.domains))
        told = tuple(one.among(self.workload.domains) for one in self.strategies)
        object.__setattr__(self, "strategies", told)
        return self

    @model_validator(mode="after")
    def _targets_of_known_classes(self) -> Self:
        """Refuse targets of a class that the workload does not have."""
        if isinstance(self.workload.arrivals, Trace):
            return self  # whose classes are those of the file
        known = [one.name for one in self.workload.classes or ()]
        unknown = [name for name in self.slo.classes or {} if name not in known]
        if unknown:
            have = f"its classes are {', '.join(known)}" if known else "it has no `classes`"
            raise ValueError(f"has targets for {unknown[0]}, which the workload lacks: {have}")
        return self

    def with_decoding(self, strategy: AnyStrategy) -> Self:
        """Return the same scenario decoded another way, on the strategy's own model if named."""
        update: dict[str, Any] = {"decoding": strategy.among(self.workload.domains)}
        if strategy.model is not None:
            update["model"] = strategy.model
        return self.model_copy(update=update)

    def with_workload(self, workload: Workload, requests: int | None = None) -> Self:
        """Return the same scenario under other traffic."""
        update: dict[str, Any] = {
            "workload": workload,
            "decoding": self.decoding.among(workload.domains),
            "strategies": tuple(one.among(workload.domains) for one in self.strategies),
        }
        if requests is not None:
            update["run"] = self.run.model_copy(update={"requests": requests})
        return self.model_copy(update=update)

    def with_deployment(self, **changes: float | str | None) -> Self:
        """Return the same scenario laid out differently; the changed values are checked."""
        wanted = {**self.deployment.model_dump(), **changes}
        deployment = validate(Deployment, wanted, "deployment")
        return self.model_copy(update={"deployment": deployment})
