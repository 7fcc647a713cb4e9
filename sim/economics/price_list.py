"""Price lists: what providers ask for a GPU-hour, each with source and date; none is invented."""

from functools import lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sim.errors import InputError
from sim.hardware.load import PROFILES
from sim.hardware.profile import AsOf, Source, check_source
from sim.yaml_files import changed_ns, find, list_names, read_yaml, validate

PRICES: Final = PROFILES / "prices"

Term = Literal["on_demand", "reserved", "spot"]
"""How the GPU is rented; `reserved` covers every commitment, from a capacity block to years."""
LOWEST_USD_PER_GPU_HOUR: Final = 0.03
HIGHEST_USD_PER_GPU_HOUR: Final = 30.0
"""No GPU is rented outside: a slip of units, or the price of a whole instance."""


class Quote(BaseModel):
    """One price, USD per GPU-hour, as a provider asked for it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

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
    provider: str | None = None
    """Who asks for it: in a list, whoever the list is of, unless the row names another."""

    _source = field_validator("source")(check_source)

    @property
    def usd_per_instance_hour(self) -> float:
        """What the whole instance costs, USD per hour."""
        return self.usd_per_gpu_hour * self.gpus_per_instance


class PriceList(BaseModel):
    """The prices of one provider."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    provider: str
    note: str | None = None
    prices: tuple[Quote, ...] = Field(min_length=1)
    """Where a GPU and term come more than once, the smallest instance that holds a replica counts;
    of several like it, or where none holds one, the first."""

    @model_validator(mode="after")
    def _plausible(self) -> Self:
        low, high = LOWEST_USD_PER_GPU_HOUR, HIGHEST_USD_PER_GPU_HOUR
        for position, row in enumerate(self.prices):
            if not low <= row.usd_per_gpu_hour <= high:
                raise ValueError(
                    f"`prices.{position}.usd_per_gpu_hour` is {row.usd_per_gpu_hour:g}, outside"
                    f" {low:g} to {high:g}: check the unit, and whether it is one GPU's price"
                )
        return self

    def of(self, gpu: str, term: str | None = None) -> tuple[Quote, ...]:
        """Return every price of a GPU in this list, in the list's order."""
        return tuple(
            row if row.provider else row.model_copy(update={"provider": self.provider})
            for row in self.prices
            if row.gpu == gpu and term in {None, row.term}
        )

    def quote(
        self,
        gpu: str,
        term: str = "on_demand",
        *,
        instance: str | None = None,
        gpus: int | None = None,
    ) -> Quote:
        """Return the price of a GPU under a term, and of one instance if it is named.

        Of several, that of the smallest instance which holds a replica of so many `gpus`: the
        first of such; where none holds one, or no number is given, the first row.
        Raises `InputError` that names the lists which have one; nothing is estimated.
        """
        offered = self.of(gpu, term)
        named = [row for row in offered if instance in {None, row.instance}]
        if named:
            large = [row for row in named if gpus is not None and row.gpus_per_instance >= gpus]
            return min(large, key=lambda row: row.gpus_per_instance, default=named[0])
        problem = f"price list `{self.provider}` has no {term} price for `{gpu}`"
        if offered:
            known = ", ".join(f"`{row.instance}`" for row in offered)
            problem, remedy = f"{problem} as `{instance}`", f"it has {known}"
        else:
            remedy = _alternatives(gpu)
        raise InputError(problem, where="prices", remedy=remedy)


def list_price_lists() -> tuple[str, ...]:
    """Return the names of the shipped price lists."""
    return list_names(PRICES)


def load_price_list(reference: str | Path) -> PriceList:
    """Return a price list by its name, or from a YAML file of the user's own."""
    path = find("price list", reference, PRICES)
    return _price_list(path, changed_ns(path))


@lru_cache(maxsize=64)
def _price_list(path: Path, _changed: int) -> PriceList:
    """Return a price list; read again when its file changes: a dashboard asks at every move."""
    return validate(PriceList, read_yaml(path), str(path))


def quotes(gpu: str, term: Term | None = None) -> tuple[Quote, ...]:
    """Return what all shipped lists ask for a GPU, the cheapest first; empty where none has it."""
    offers = [row for name in list_price_lists() for row in load_price_list(name).of(gpu, term)]
    return tuple(sorted(offers, key=lambda row: row.usd_per_gpu_hour))


def _alternatives(gpu: str) -> str:
    offers: dict[str, list[str]] = {}
    for name in list_price_lists():
        terms = {row.term for row in load_price_list(name).of(gpu)}
        if terms:
            offers[name] = sorted(terms)
    own = "give `prices.usd_per_gpu_hour` with its source and date"
    if not offers:
        return f"no shipped list has that GPU: {own}"
    known = ", ".join(f"{name} ({', '.join(terms)})" for name, terms in offers.items())
    return f"lists that have that GPU: {known}; or {own}"
