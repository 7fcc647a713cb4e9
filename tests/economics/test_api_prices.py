"""Prices of hosted APIs: sourced, plausible, and billed as hosts bill."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sim.economics.api_prices import (
    ApiPrice,
    ApiPriceList,
    api_quotes,
    list_api_models,
    list_api_price_lists,
    load_api_price_list,
)
from sim.errors import InputError, UnknownNameError

ROW = {
    "model": "openai/gpt-oss-120b",
    "usd_per_million_input_tokens": 0.15,
    "usd_per_million_cached_input_tokens": 0.075,
    "usd_per_million_output_tokens": 0.6,
    "source": "a price page",
    "as_of": "2026-06",
}
FIGURES = [key for key in ROW if key.startswith("usd_")]


@pytest.fixture(params=list_api_price_lists())
def prices(request: pytest.FixtureRequest) -> ApiPriceList:
    return load_api_price_list(str(request.param))


def test_several_hosts_and_models_are_there() -> None:
    assert len(list_api_price_lists()) >= 5
    assert {"openai/gpt-oss-120b", "meta-llama/Llama-3.3-70B-Instruct"} <= set(list_api_models())


def test_every_price_is_sourced_and_for_a_checkpoint(prices: ApiPriceList) -> None:
    assert prices.provider in list_api_price_lists()
    for row in prices.prices:
        assert row.source.startswith("https://")
        assert row.model.count("/") == 1


def test_a_slip_of_a_thousand_in_any_price_is_refused(prices: ApiPriceList) -> None:
    for price in prices.prices:
        row = price.model_dump(mode="json", exclude_none=True)
        for key in set(FIGURES) & set(row):
            for slip in (1000, 1 / 1000):
                with pytest.raises(ValidationError):
                    ApiPrice.model_validate({**row, key: row[key] * slip})


def test_a_price_per_thousand_tokens_is_refused(prices: ApiPriceList) -> None:
    for price in prices.prices:
        row = price.model_dump(mode="json", exclude_none=True)
        per_thousand = {key: row[key] / 1000 for key in set(FIGURES) & set(row)}
        with pytest.raises(ValidationError, match="per thousand"):
            ApiPrice.model_validate({**row, **per_thousand})


@pytest.mark.truth
def test_a_request_costs_its_new_cached_and_output_tokens() -> None:
    price = ApiPrice.model_validate(ROW)
    # 3,000 new and 1,000 cached input tokens, 500 output: 450 + 75 + 300 millionths of a dollar.
    usd = price.usd(input_tokens=4000, cached_input_tokens=1000, output_tokens=500)
    assert usd == pytest.approx(825e-6)


def test_without_a_price_of_its_own_cached_input_costs_as_much_as_other_input() -> None:
    row = {key: value for key, value in ROW.items() if "cached" not in key}
    price = ApiPrice.model_validate(row)
    cached = price.usd(input_tokens=1e6, cached_input_tokens=9e5, output_tokens=0)
    assert cached == pytest.approx(price.usd(input_tokens=1e6, output_tokens=0))
    with pytest.raises(ValueError, match="part of the input"):
        price.usd(input_tokens=1, cached_input_tokens=2, output_tokens=0)


def test_hosts_stand_side_by_side_the_cheapest_output_first() -> None:
    quotes = api_quotes("OpenAI/gpt-oss-120b", "gpt-oss-120b")
    assert {quote.provider for quote in quotes} >= {"groq", "nebius", "deepinfra"}
    asked = [quote.usd_per_million_output_tokens for quote in quotes]
    assert asked == sorted(asked)
    assert api_quotes("nobody/serves-this") == ()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"usd_per_million_output_tokens": 0.1}, "times as much as input"),
        ({"usd_per_million_cached_input_tokens": 0.3}, "cached input costs"),
        ({"source": "http://insecure.example"}, "https address"),
        ({"as_of": "June"}, "`prices.0.as_of`"),
        ({"usd_per_million_tokens": 1}, "`prices.0.usd_per_million_tokens` is not a key here"),
    ],
)
def test_a_slip_in_a_list_of_ones_own_is_told(
    tmp_path: Path, change: dict[str, Any], problem: str
) -> None:
    path = tmp_path / "own.yaml"
    row = "\n".join(f"    {key}: {value}" for key, value in {**ROW, **change}.items())
    path.write_text(f"provider: own\nprices:\n  -\n{row}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_api_price_list(path)
    assert problem in str(caught.value)


def test_an_unknown_list_is_refused_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean groq"):
        load_api_price_list("grok")
