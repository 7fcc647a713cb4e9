"""Published tokens per denoise pass: by model, confidence threshold and domain, with source."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Self

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, model_validator

from sim.errors import SimError
from sim.yaml_files import list_names, read_yaml, validate

CATALOG: Final = Path(__file__).resolve().parent.parent / "catalog" / "denoising"


ROW_KEYS: Final = ("threshold", "mode", "domain", "block_tokens")
"""What tells the rows of a table apart."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class DenoiseRow(_Part):
    """One published figure."""

    tokens_per_pass: Annotated[float, Gt(0), Le(1024)]
    threshold: Annotated[float, Ge(0), Le(1)] | None = None
    """Confidence from which a token is kept; None: another rule, see `note`."""
    mode: str | None = None
    """Setting of the model's own, where it has several."""
    domain: str
    block_tokens: Annotated[int, Ge(1)] | None = None
    """Block length at which it was measured."""
    source: str
    as_of: str
    note: str | None = None
    derived: bool = False
    """Worked out from other published figures (the note says how), not printed there."""


class DenoiseTable(_Part):
    """All that is published of one model."""

    model: str
    """Name in the catalog of models."""
    rows: tuple[DenoiseRow, ...]


def list_denoise_tables() -> tuple[str, ...]:
    """Return the names of the tables."""
    return list_names(CATALOG)


@cache
def load_denoise_table(name: str) -> DenoiseTable:
    """Return a table of the catalog."""
    path = CATALOG / f"{name}.yaml"
    return validate(DenoiseTable, read_yaml(path), str(path))


class Published(_Part):
    """A row of a published table."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"table": "llada-2.0-mini", "threshold": 0.85}]}
    )

    table: str
    """Name of the table; most bear that of their model."""
    threshold: Annotated[float, Ge(0), Le(1)] | None = None
    """Confidence threshold; may be left out where the table has one only."""
    mode: str | None = None
    """Setting of the model's own; may be left out where the table has one only."""
    domain: str | None = None
    """Benchmark; may be left out where the table has one only."""
    block_tokens: Annotated[int, Ge(1)] | None = None
    """Block length of the measurement; may be left out where it is the only one."""

    @model_validator(mode="after")
    def _find(self) -> Self:
        _ = self.row
        return self

    @property
    def row(self) -> DenoiseRow:
        """The row that is meant; raises `ValueError` in one sentence where there is none."""
        if self.table not in list_denoise_tables():
            known = ", ".join(list_denoise_tables())
            raise ValueError(
                f"there is no table `{self.table}` of tokens per pass; known: {known}"
            )
        try:
            rows = load_denoise_table(self.table).rows
        except SimError as error:  # pragma: no cover - a test reads every table
            raise ValueError(str(error)) from error
        keys = ROW_KEYS
        wanted: dict[str, Any] = {
            key: getattr(self, key) for key in keys if getattr(self, key) is not None
        }
        found = [r for r in rows if all(getattr(r, key) == v for key, v in wanted.items())]
        if len(found) == 1:
            return found[0]
        offers = "; ".join(_keys_of(row, keys) for row in found or rows)
        what = "several rows" if found else "no row"
        raise ValueError(f"`{self.table}` has {what} for that; it has: {offers}")

    @property
    def tokens_per_pass(self) -> float:
        """Tokens that a denoise pass unmasks on average."""
        return self.row.tokens_per_pass

    @property
    def source(self) -> str:
        """Where the figure comes from."""
        derived = ", derived" if self.row.derived else ""
        return f"{self.row.source} ({self.row.as_of}{derived})"


def _keys_of(row: DenoiseRow, keys: tuple[str, ...]) -> str:
    known = ((key, getattr(row, key)) for key in keys)
    return ", ".join(f"{key} {value}" for key, value in known if value is not None)
