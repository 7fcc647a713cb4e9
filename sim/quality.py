"""Quality of answers: looked up by model, precision and strategy setting, never modelled.

Each file of `sim/catalog/quality/` holds figures of one publication. What nobody published is
unknown, and stays so: no figure is carried over from another setting, precision or model.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Final

from annotated_types import Ge, Le
from pydantic import BaseModel, ConfigDict

import sim.catalog
from sim.model import Model
from sim.model.weight_format import PARTS
from sim.precision import Precision
from sim.scenario import Scenario
from sim.yaml_files import list_names, read_yaml, validate

CATALOG: Final = Path(sim.catalog.__file__).resolve().parent / "quality"
UNKNOWN: Final = "unknown"


class QualityRow(BaseModel):
    """One published score."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)

    model: str
    """Name in the catalog of models, or that of the publication where it is not there."""
    checkpoint: str | None = None
    """The published checkpoint, where the catalog's model has several."""
    weights: Precision
    kv_precision: Precision | None = None
    """None: not stated, so 16 bits."""
    method: str | None = None
    """How it was quantised."""
    strategy: str = "autoregressive"
    """Id of the strategy; exact verification leaves answers as they are."""
    settings: dict[str, float | str] = {}
    """Settings of the strategy under which it was measured."""
    benchmark: str
    score: Annotated[float, Ge(0), Le(100)]
    """Percent, or points out of 100."""


class QualityFile(BaseModel):
    """Schema of `sim/catalog/quality/<name>.yaml`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    title: str
    source: str
    as_of: str
    rows: tuple[QualityRow, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A row with its source, and the score of the same model in 16 bits, one token a pass."""

    row: QualityRow
    source: str
    plain: float | None
    """None: nobody published it beside the row."""


@cache
def quality_files() -> dict[str, QualityFile]:
    """Return all files of the catalog by name."""
    found = {}
    for name in list_names(CATALOG):
        path = CATALOG / f"{name}.yaml"
        found[name] = validate(QualityFile, read_yaml(path), str(path))
    return found


def all_scores() -> tuple[Score, ...]:
    """Return every published score, file by file."""
    return tuple(
        Score(row, f"{file.source} ({file.as_of})", _plain(row, file.rows))
        for file in quality_files().values()
        for row in file.rows
    )


def scores_of(scenario: Scenario, model: Model) -> tuple[Score, ...]:
    """Return what is published of a scenario's model as it is served and decoded there.

    Nothing for a what-if: the answers would be another model's.
    """
    strategy, deployment = scenario.decoding, scenario.deployment
    if strategy.what_if:
        return ()
    kind = "autoregressive" if strategy.lossless else strategy.name
    served = {str(key): value for key, value in strategy.quality_settings.items()}
    stored = _stored(model, deployment.weights)
    return tuple(
        score
        for score in all_scores()
        if score.row.model == model.name
        and score.row.weights in stored
        and _same_cache(score.row, deployment.kv_precision)
        and score.row.strategy == kind
        and all(served.get(key) == value for key, value in score.row.settings.items())
        and _meant(score.row, scenario.model)
    )


def _stored(model: Model, weights: str) -> set[str]:
    """Return the format of all matrices, if there is one."""
    if weights != "checkpoint":
        return {weights}
    formats = {model.weights.of(part) for part in PARTS}
    return set(formats) if len(formats) == 1 else set()


def _same_cache(row: QualityRow, kv: str) -> bool:
    return kv in {"bf16", "fp16"} if row.kv_precision is None else row.kv_precision == kv


def _meant(row: QualityRow, reference: object) -> bool:
    """Whether a checkpoint that the scenario names is the one of the row."""
    if row.checkpoint is None or not isinstance(reference, str) or "/" not in reference:
        return True
    return row.checkpoint.lower() == reference.lower()


def _plain(row: QualityRow, rows: Iterable[QualityRow]) -> float | None:
    """Return the score in 16 bits with all else the same, or one token a pass."""
    same = [
        other
        for other in rows
        if (other.model, other.checkpoint, other.benchmark)
        == (row.model, row.checkpoint, row.benchmark)
        and other.weights in {"bf16", "fp16"}
        and other.kv_precision in {None, "bf16", "fp16"}
    ]
    canvas = row.settings.get("canvas_tokens")
    alike = [
        other
        for other in same
        if other.settings.get("canvas_tokens") == canvas
        and other.settings.get("cache", "none") == "none"
        and other.settings.get("tokens_per_pass", 1.0) == 1.0
        and "threshold" not in other.settings
    ]
    return alike[0].score if len(alike) == 1 else None


def in_short(scores: Iterable[Score], most: int = 2) -> str:
    """Return scores in a few words, those of most weight first, or that they are unknown."""
    found = list(scores)
    if not found:
        return UNKNOWN
    words = []
    for score in found[:most]:
        beside = "" if score.plain in {None, score.row.score} else f" ({score.plain:g} plain)"
        words.append(f"{score.row.benchmark} {score.row.score:g}{beside}")
    more = len(found) - most
    return "; ".join(words) + (f"; {more} more" if more > 0 else "")
