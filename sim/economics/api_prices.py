"""What hosted APIs ask per million tokens: the alternative to serving a model oneself."""

from pathlib import Path
from typing import Annotated, Final, Self

from annotated_types import Gt, Le
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sim.hardware.load import PROFILES
from sim.hardware.profile import AsOf, Source, check_source
from sim.units import MEGA
from sim.yaml_files import find, list_names, read_yaml, validate

API_PRICES: Final = PROFILES / "api_prices"

UsdPerMillionTokens = Annotated[float, Gt(0), Le(100), Field(allow_inf_nan=False)]
LOWEST_USD_PER_MILLION_TOKENS: Final = 0.005
"""No host asks less for input or output: a price per thousand tokens is in the file."""
MOST_OUTPUT_PER_INPUT: Final = 10.0
"""Output tokens cost one to seven times as much as input tokens, at every host known."""


class ApiPrice(BaseModel):
    """What one host asks for one model, USD per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    model: str
    """The checkpoint, as Hugging Face names it: `openai/gpt-oss-120b`."""
    served_as: str | None = None
    """What the host calls it, where that differs: often a quantised copy."""
    usd_per_million_input_tokens: UsdPerMillionTokens
    usd_per_million_cached_input_tokens: UsdPerMillionTokens | None = None
    """Tokens of a prefix that the host has in its cache; None: charged as other input."""
    usd_per_million_output_tokens: UsdPerMillionTokens
    source: Source
    as_of: AsOf
    note: str | None = None
    provider: str | None = None
    """Who asks for it: in a list, whoever the list is of."""

    _source = field_validator("source")(check_source)

    @model_validator(mode="after")
    def _plausible(self) -> Self:
        """Refuse what only a slip explains: of units, or of columns."""
        given, answered = self.usd_per_million_input_tokens, self.usd_per_million_output_tokens
        if min(given, answered) < LOWEST_USD_PER_MILLION_TOKENS:
            raise ValueError(
                f"{min(given, answered):g} USD per million tokens is less than anyone asks: is it"
                " per thousand tokens?"
            )
        if not 1 <= answered / given <= MOST_OUTPUT_PER_INPUT:
            raise ValueError(
                f"output costs {answered / given:.3g} times as much as input, outside 1 to"
                f" {MOST_OUTPUT_PER_INPUT:g}: check the columns and the units"
            )
        cached = self.usd_per_million_cached_input_tokens
        if cached is not None and not given / 100 <= cached <= given:
            raise ValueError(
                f"cached input costs {cached / given:.3g} of other input, outside 0.01 to 1:"
                " check the columns and the units"
            )
        return self

    def usd(
        self, *, input_tokens: float, output_tokens: float, cached_input_tokens: float = 0.0
    ) -> float:
        """Return what these tokens cost, USD; cached ones are part of the input.

        >>> price = ApiPrice(
        ...     model="openai/gpt-oss-120b",
        ...     usd_per_million_input_tokens=0.15,
        ...     usd_per_million_cached_input_tokens=0.075,
        ...     usd_per_million_output_tokens=0.6,
        ...     source="a price page",
        ...     as_of="2026-06",
        ... )
        >>> price.usd(input_tokens=2e6, output_tokens=1e6, cached_input_tokens=1e6)
        0.825
        """
        if cached_input_tokens > input_tokens:
            raise ValueError("cached input tokens are part of the input tokens")
        cached = self.usd_per_million_cached_input_tokens
        if cached is None:
            cached = self.usd_per_million_input_tokens
        new = (input_tokens - cached_input_tokens) * self.usd_per_million_input_tokens
        answered = output_tokens * self.usd_per_million_output_tokens
        return (new + cached_input_tokens * cached + answered) / MEGA


class ApiPriceList(BaseModel):
    """Schema of `hardware_profiles/api_prices/<provider>.yaml`: the prices of one host."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    provider: str
    note: str | None = None
    prices: tuple[ApiPrice, ...] = Field(min_length=1)
    """Where a model comes more than once, the first one counts."""

    def of(self, model: str) -> tuple[ApiPrice, ...]:
        """Return every price of a model in this list, in the list's order."""
        return tuple(
            row if row.provider else row.model_copy(update={"provider": self.provider})
            for row in self.prices
            if row.model.lower() == model.lower()
        )


def list_api_price_lists() -> tuple[str, ...]:
    """Return the names of the shipped lists of hosted-API prices."""
    return list_names(API_PRICES)


def load_api_price_list(reference: str | Path) -> ApiPriceList:
    """Return a list of hosted-API prices by its name, or from a YAML file of the user's own."""
    path = find("list of API prices", reference, API_PRICES)
    return validate(ApiPriceList, read_yaml(path), str(path))


def api_quotes(model: str, *aliases: str) -> tuple[ApiPrice, ...]:
    """Return what all shipped lists ask for a model, the cheapest output first.

    A model goes by its Hugging Face name; give every name that it may have. Empty where no list
    has it: nothing is estimated.
    """
    wanted = {name.lower(): name for name in (model, *aliases)}
    offers = [
        row
        for name in list_api_price_lists()
        for called in wanted.values()
        for row in load_api_price_list(name).of(called)
    ]
    return tuple(sorted(offers, key=lambda row: row.usd_per_million_output_tokens))


def list_api_models() -> tuple[str, ...]:
    """Return the models that any shipped list has a price of."""
    lists = [load_api_price_list(name) for name in list_api_price_lists()]
    return tuple(sorted({row.model for prices in lists for row in prices.prices}))
