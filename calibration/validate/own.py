"""What a table says itself of a run's server and load: optional columns, which come first."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sim.deployment import Deployment
from sim.errors import InputError
from sim.hardware.engine_options import EngineOptions
from sim.yaml_files import parse_scalar, validate

DEPLOYMENT: Final = ("kv_precision", "max_batched_tokens", "max_sequences", "memory_fraction")
"""Columns that are keys of a scenario's `deployment`."""
ENGINE: Final = tuple(name for name in EngineOptions.model_fields if name not in DEPLOYMENT)
"""Columns that are keys of a scenario's `engine_options`."""
DECODING: Final = "decoding"
"""Column with a strategy by name: `autoregressive`, `speculative:eagle3`."""
LOAD: Final = ("num_prompts", "shortest_share")
"""Columns that say how the benchmark drove the server."""
OPTIONAL: Final = (*DEPLOYMENT, *ENGINE, DECODING, *LOAD)


@dataclass(frozen=True, slots=True)
class Own:
    """Cells of the optional columns that are not empty, checked, by their column."""

    deployment: tuple[tuple[str, object], ...] = ()
    engine: tuple[tuple[str, object], ...] = ()
    decoding: str | None = None
    num_prompts: int | None = None
    """Prompts of the run; None: ten per user."""
    shortest_share: float | None = None
    """Lengths are uniform from this share of the nominal one upwards; None: the suite's 0.8."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns in which the row says something."""
        named = [name for name, _ in (*self.deployment, *self.engine)]
        given = {
            DECODING: self.decoding,
            "num_prompts": self.num_prompts,
            "shortest_share": self.shortest_share,
        }
        return (*named, *(name for name, value in given.items() if value is not None))


def own_of(cells: Mapping[str, str], *, num_prompts: int | None, where: str) -> Own:
    """Return what a row's optional cells say, or raise one sentence that names the column."""
    told = {name: parse_scalar(cells[name]) for name in OPTIONAL if cells.get(name)}
    deployment: dict[str, object] = {name: told[name] for name in DEPLOYMENT if name in told}
    engine: dict[str, object] = {name: told[name] for name in ENGINE if name in told}
    validate(Deployment, deployment, where)
    validate(EngineOptions, engine, where)
    return Own(
        deployment=tuple(deployment.items()),
        engine=tuple(engine.items()),
        decoding=cells.get(DECODING) or None,
        num_prompts=num_prompts,
        shortest_share=_share(told.get("shortest_share"), where),
    )


def _share(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and 0 < value <= 1:
        return float(value)
    raise InputError(
        f"`shortest_share` should be above 0 and at most 1, found {value!r}", where=where
    )
