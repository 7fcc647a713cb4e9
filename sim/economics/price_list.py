"""Price lists: what providers ask for a GPU-hour, each with source and date; none is invented."""

from pathlib import Path
from typing import Annotated, Final, Literal

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, field_validator

from sim.errors import InputError
from sim.hardware.load import PROFILES
from sim.hardware.profile import AsOf, Source, check_source
from sim.yaml_files import find, list_names, read_yaml, validate

PRICES: Final = PROFILES / "prices"

Term = Literal["on_demand", "reserved", "spot"]
"""How the GPU is rented; `reserved` covers every commitment, from a capacity block to years."""


class Quote(BaseModel):
    """One price, USD per GPU-hour, as a provider asked for it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    gpu: str
    """Name of a hardware profile."""
    term: Term
    usd_per_gpu_hour: Annotated[float, Gt(0), Le(1000), Field(allow_inf_nan=False)]
    instance: str
    """What is rented, in the provider's words."""
    gpus_per_instance: Annotated[int, Ge(1), Le(1024)]
    region: str | None = None
    source: Source
    as_of: AsOf
    note: str | None = None

    _source = field_validator("source")(check_source)


class PriceList(BaseModel):
    """The prices of one provider."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: str
    note: str | None = None
    prices: tuple[Quote, ...] = Field(min_length=1)
    """Where a GPU and term come more than once, the first one counts."""

    def quote(self, gpu: str, term: str = "on_demand") -> Quote:
        """Return the price of a GPU under a term.

        Raises `InputError` that names the lists which have one; nothing is estimated.
        """
        for row in self.prices:
            if row.gpu == gpu and row.term == term:
                return row
        problem = f"price list `{self.provider}` has no {term} price for `{gpu}`"
        raise InputError(problem, where="prices", remedy=_alternatives(gpu))


def list_price_lists() -> tuple[str, ...]:
    """Return the names of the shipped price lists."""
    return list_names(PRICES)


def load_price_list(reference: str | Path) -> PriceList:
    """Return a price list by its name, or from a YAML file of the user's own."""
    path = find("price list", reference, PRICES)
    return validate(PriceList, read_yaml(path), str(path))


def _alternatives(gpu: str) -> str:
    offers: dict[str, list[str]] = {}
    for name in list_price_lists():
        terms = {row.term for row in load_price_list(name).prices if row.gpu == gpu}
        if terms:
            offers[name] = sorted(terms)
    own = "give `prices.usd_per_gpu_hour` with its source and date"
    if not offers:
        return f"no shipped list has that GPU: {own}"
    known = ", ".join(f"{name} ({', '.join(terms)})" for name, terms in offers.items())
    return f"lists that have that GPU: {known}; or {own}"
