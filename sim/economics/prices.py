"""Which price the user wants (scenario key `prices`); without that key there is no cost."""

from typing import Annotated, Self

from annotated_types import Gt, Le
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sim.economics.price_list import Quote, Term, load_price_list
from sim.hardware.profile import AsOf, Source, check_source


class PriceChoice(BaseModel):
    """A price list and term, or a price of one's own with its source and date."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_by_name=True, defer_build=True)

    list_name: str | None = Field(default=None, alias="list")
    """Name of a shipped list, or path of one's own."""
    term: Term | None = None
    """How the GPU of a list is rented; on demand unless said."""
    usd_per_gpu_hour: Annotated[float, Gt(0), Le(1000), Field(allow_inf_nan=False)] | None = None
    source: Source | None = None
    as_of: AsOf | None = None

    @field_validator("source")
    @classmethod
    def _source_can_be_looked_up(cls, source: str | None) -> str | None:
        return None if source is None else check_source(source)

    @model_validator(mode="after")
    def _one_way_or_the_other(self) -> Self:
        """Refuse both ways at once, neither, and a price that nobody vouches for."""
        own = self.usd_per_gpu_hour is not None
        if own == (self.list_name is not None):
            raise ValueError("give either `list` or `usd_per_gpu_hour`")
        if own and (self.source is None or self.as_of is None):
            raise ValueError("`usd_per_gpu_hour` needs its `source` and `as_of`")
        if own and self.term is not None:
            raise ValueError("`term` belongs to a `list`")
        if not own and (self.source is not None or self.as_of is not None):
            raise ValueError("`source` and `as_of` of a `list` stand in the list")
        return self

    def resolve(self, gpu: str, gpus: int = 1) -> Quote:
        """Return the price of a GPU in a replica of `gpus`; `InputError` where the list has none.

        A list may have instances of several sizes: see `PriceList.quote`.
        """
        if self.list_name is not None:
            return load_price_list(self.list_name).quote(gpu, self.term or "on_demand", gpus=gpus)
        return Quote.model_validate(
            {
                "gpu": gpu,
                "term": "on_demand",
                "usd_per_gpu_hour": self.usd_per_gpu_hour,
                "instance": "own price",
                "gpus_per_instance": 1,
                "source": self.source,
                "as_of": self.as_of,
            }
        )
