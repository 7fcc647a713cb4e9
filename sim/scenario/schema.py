"""The scenario file: what users write, keys and units as they stand in YAML."""

from typing import Annotated, Any, Self

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sim.decoding import AnyStrategy, Autoregressive
from sim.deployment import Deployment
from sim.economics.prices import PriceChoice
from sim.metrics.pipeline import Pipeline
from sim.metrics.slo import Slo
from sim.workload import Trace, Workload
from sim.yaml_files import validate


class RunSettings(BaseModel):
    """How long to simulate, and with which random numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    requests: Annotated[int, Ge(1), Le(100_000_000)] = 5000
    """Requests to simulate (a trace brings its own)."""
    seed: Annotated[int, Ge(0), Le(2**31 - 1)] = 0


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
    fitted: str | None = None
    """Name of a fitted profile (kernels), or path of your own; None: that of GPU and engine."""
    deployment: Deployment = Deployment()
    decoding: AnyStrategy = Autoregressive()
    strategies: tuple[AnyStrategy, ...] = ()
    """Strategies that `frontier` sweeps besides `decoding`."""
    workload: Workload
    slo: Slo = Slo()
    pipeline: Pipeline = Pipeline()
    prices: PriceChoice | None = None
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
        update: dict[str, Any] = {"decoding": strategy}
        if strategy.model is not None:
            update["model"] = strategy.model
        return self.model_copy(update=update)

    def with_workload(self, workload: Workload, requests: int | None = None) -> Self:
        """Return the same scenario under other traffic."""
        update: dict[str, Any] = {"workload": workload}
        if requests is not None:
            update["run"] = self.run.model_copy(update={"requests": requests})
        return self.model_copy(update=update)

    def with_deployment(self, **changes: float | str | None) -> Self:
        """Return the same scenario laid out differently; the changed values are checked."""
        wanted = {**self.deployment.model_dump(), **changes}
        deployment = validate(Deployment, wanted, "deployment")
        return self.model_copy(update={"deployment": deployment})
