"""Published acceptance: one YAML file a drafter and paper, in `sim/catalog/acceptance/`."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Self

from annotated_types import Ge, Le, MinLen
from pydantic import BaseModel, ConfigDict, Field, model_validator

import sim.catalog
from sim.decoding.acceptance import Acceptance
from sim.decoding.drafters import AnyDraft, Tree
from sim.errors import InputError, UnknownNameError
from sim.yaml_files import find, list_names, read_yaml, validate

CATALOG: Final = Path(sim.catalog.__file__).resolve().parent / "acceptance"


class Row(Acceptance):
    """Acceptance of one domain at one temperature."""

    domain: str
    temperature: Annotated[float, Ge(0), Le(5)] | None = None
    """None: the source does not say."""
    model: str | None = None
    """Served model, where the file has several."""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if len(self.ways) != 1:
            raise ValueError(f"needs one statement of acceptance, found {list(self.ways)}")
        return self


class AcceptanceTable(BaseModel):
    """Schema of `sim/catalog/acceptance/<name>.yaml`, and of your own files of the kind."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    drafter: str
    """What `speculative:<drafter>` calls it."""
    models: Annotated[tuple[str, ...], MinLen(1)]
    """Served models that it was measured with."""
    source: str
    as_of: Annotated[str, Field(pattern=r"^\d{4}(-\d{2}){0,2}$")]
    hardware: str
    """What it was measured on; acceptance does not depend on it."""
    note: str | None = None
    draft_tokens: Annotated[int, Ge(1), Le(64)]
    """Drafted tokens of the variant as published, where a scenario does not say."""
    draft: AnyDraft
    """What the drafter computes."""
    tree: Tree | None = None
    domain: str
    """The domain that the short form `speculative:<drafter>` takes."""
    rows: Annotated[tuple[Row, ...], MinLen(1)]

    def pick(self, domain: str | None, temperature: float | None, model: str | None) -> Row:
        """Return the row of a domain, temperature and served model; say what there is if none."""
        served = _distinct(row.model for row in self.rows if row.model is not None)
        rows = [row for row in self.rows if row.model in {None, model}]
        if not rows:
            raise InputError(
                f"the table was measured with {', '.join(served)}",
                where="decoding.measured_with",
                remedy="name the model whose figures to take",
            )
        if domain is None:
            domains = _distinct(row.domain for row in rows)
            if len(domains) > 1:
                raise InputError(
                    f"the table has acceptance for {', '.join(domains)}",
                    where="decoding.domain",
                    remedy="name one, or give `workload.domains` their shares",
                )
            domain = domains[0]
        mine = [row for row in rows if row.domain == domain]
        if not mine:
            known = ", ".join(_distinct(row.domain for row in rows))
            raise InputError(
                f"there is no acceptance for the domain {domain!r}",
                where="decoding.table",
                remedy=f"use one of {known}",
            )
        found = [row for row in mine if temperature is None or row.temperature == temperature]
        if len(found) == 1:
            return found[0]
        temperatures = ", ".join(
            "not stated" if row.temperature is None else f"{row.temperature:g}" for row in mine
        )
        raise InputError(
            f"the table has {domain} at temperature {temperatures}",
            where="decoding.temperature",
            remedy="name one of them",
        )


def _distinct(names: Any) -> list[str]:  # noqa: ANN401
    return list(dict.fromkeys(names))


def list_acceptance() -> tuple[str, ...]:
    """Return the names of the published tables."""
    return list_names(CATALOG)


@lru_cache(maxsize=64)
def load_acceptance(reference: str) -> AcceptanceTable:
    """Return a published table by its name, or one from a file of your own."""
    path = find("acceptance table", reference, CATALOG)
    return validate(AcceptanceTable, read_yaml(path), str(path))


def published_variant(drafter: str, models: Sequence[str]) -> dict[str, Any]:
    """Return the keys of a published drafter for a served model, which may have several names.

    It takes the domain that the table puts first; reports show it with the source.
    """
    known: list[str] = []
    for name in list_acceptance():
        table = load_acceptance(name)
        known.append(table.drafter)
        mine = [model for model in models if model in table.models]
        if table.drafter != drafter or not mine:
            continue
        row = next(
            row for row in table.rows if row.domain == table.domain and row.model in {None, *mine}
        )
        keys: dict[str, Any] = {
            "name": "speculative",
            "drafter": drafter,
            "draft_tokens": table.draft_tokens,
            "table": name,
            "domain": table.domain,
            "temperature": row.temperature,
            "measured_with": row.model,
        }
        return keys | ({"tree": table.tree.model_dump()} if table.tree else {})
    if drafter in known:
        tables = (load_acceptance(name) for name in list_acceptance())
        served = _distinct(m for table in tables if table.drafter == drafter for m in table.models)
        raise InputError(
            f"nobody published the acceptance of {drafter} for {models[0]}",
            where="decoding",
            remedy=_instead(models, served),
        )
    raise UnknownNameError("drafter", drafter, tuple(sorted(set(known))))


def _instead(models: Sequence[str], served: Sequence[str]) -> str:
    """Return what to do where a drafter's acceptance is published for other models only."""
    tables = (load_acceptance(name) for name in list_acceptance())
    others = _distinct(t.drafter for t in tables if set(t.models) & set(models))
    there = f"for {models[0]} there is speculative:{', speculative:'.join(others)}; "
    ways = "give your own acceptance, or take that of another model by `table` and `measured_with`"
    return f"{there if others else ''}{ways}: it is published for {', '.join(served)}"
