"""Prices are data with a source; what nobody asked for has no price."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from sim.economics.price_list import PriceList, list_price_lists, load_price_list, quotes
from sim.errors import InputError, UnknownNameError
from sim.hardware import list_gpus

ROW = """
  - gpu: h100_sxm
    term: {term}
    usd_per_gpu_hour: {usd}
    instance: eight of them
    gpus_per_instance: 8
    source: an offer in writing
    as_of: 2026-05-01
"""


@pytest.fixture(params=list_price_lists())
def prices(request: pytest.FixtureRequest) -> PriceList:
    return load_price_list(str(request.param))


def _own(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text("provider: own\nprices:\n" + "".join(rows))
    return path


def test_providers_of_every_kind_are_there() -> None:
    hyperscalers, clouds = {"aws", "azure", "gcp"}, {"coreweave", "lambda", "nebius", "runpod"}
    assert set(list_price_lists()) >= hyperscalers | clouds | {"vast", "modal"}


def test_every_price_is_plausible_sourced_and_for_a_gpu_that_exists(prices: PriceList) -> None:
    assert prices.provider in list_price_lists()
    for row in prices.prices:
        assert 0.2 < row.usd_per_gpu_hour < 30, "USD per GPU-hour: check the unit"
        assert row.gpu in list_gpus()
        assert 1 <= row.gpus_per_instance <= 8
        assert row.source.startswith("https://") or " " in row.source


def test_a_slip_of_a_thousand_in_any_price_is_refused(prices: PriceList) -> None:
    content = prices.model_dump(mode="json")
    for row in content["prices"]:
        asked = row["usd_per_gpu_hour"]
        for slip in (1000, 1 / 1000):
            row["usd_per_gpu_hour"] = asked * slip
            with pytest.raises(ValidationError, match="usd_per_gpu_hour"):
                PriceList.model_validate(content)
        row["usd_per_gpu_hour"] = asked


def test_the_price_of_a_whole_node_is_not_taken_for_that_of_a_gpu(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="whether it is one GPU's price"):
        load_price_list(_own(tmp_path, ROW.format(term="on_demand", usd=55.04)))


def test_spot_is_cheaper_than_on_demand_of_the_same_list(prices: PriceList) -> None:
    terms = {(row.gpu, row.term) for row in prices.prices}
    for gpu in {gpu for gpu, term in terms if term == "spot"}:
        if (gpu, "on_demand") in terms:
            spot, on_demand = prices.quote(gpu, "spot"), prices.quote(gpu)
            assert spot.usd_per_gpu_hour < on_demand.usd_per_gpu_hour


@pytest.mark.parametrize(
    ("provider", "gpu", "usd_per_instance_hour"),
    [
        ("aws", "h100_sxm", 55.04),
        ("aws", "h200_sxm", 63.296),
        ("aws", "b200_sxm", 113.9328),
        ("nebius", "b200_sxm", 44.00),
        ("lambda", "b200_sxm", 53.52),
        ("runpod", "h100_sxm", 22.32),
        ("aws", "a100_sxm_40gb", 21.957642),
        ("azure", "h100_sxm", 98.32),
        ("coreweave", "gb200", 42.0),
        ("coreweave", "b200_sxm", 68.80),
    ],
)
def test_an_instance_costs_what_the_source_prints_for_it(
    provider: str, gpu: str, usd_per_instance_hour: float
) -> None:
    quote = load_price_list(provider).quote(gpu, "on_demand")
    assert quote.provider == provider
    assert quote.usd_per_instance_hour == pytest.approx(usd_per_instance_hour, rel=1e-3)


def test_no_price_is_invented_and_the_error_names_who_has_one() -> None:
    with pytest.raises(InputError) as caught:
        load_price_list("aws").quote("mi300x", "on_demand")
    assert "`aws` has no on_demand price for `mi300x`" in str(caught.value)
    assert "crusoe (on_demand)" in str(caught.value)
    with pytest.raises(InputError, match="no shipped list has that GPU"):
        load_price_list("aws").quote("abacus", "on_demand")


def test_the_first_of_several_rows_counts(tmp_path: Path) -> None:
    own = _own(tmp_path, ROW.format(term="spot", usd=2), ROW.format(term="spot", usd=1))
    assert load_price_list(own).quote("h100_sxm", "spot").usd_per_gpu_hour == 2


def test_an_instance_may_be_asked_for_by_its_name() -> None:
    prices = load_price_list("aws")
    assert prices.quote("h100_sxm").gpus_per_instance == 8
    assert prices.quote("h100_sxm", instance="p5.4xlarge").gpus_per_instance == 1
    with pytest.raises(InputError, match=r"as `p9`; it has `p5\.48xlarge`, `p5\.4xlarge`"):
        prices.quote("h100_sxm", instance="p9")


def test_all_lists_stand_side_by_side_the_cheapest_first() -> None:
    everywhere, spot = quotes("h100_sxm"), quotes("h100_sxm", "spot")
    assert {quote.provider for quote in everywhere} >= {"aws", "azure", "nebius", "runpod"}
    asked = [quote.usd_per_gpu_hour for quote in everywhere]
    assert asked == sorted(asked)
    assert {quote.term for quote in everywhere} == {"on_demand", "reserved", "spot"}
    assert spot == tuple(quote for quote in everywhere if quote.term == "spot")
    assert quotes("abacus") == ()


def test_a_row_may_name_its_own_provider(tmp_path: Path) -> None:
    row = ROW.format(term="spot", usd=2) + "    provider: a reseller\n"
    prices = load_price_list(_own(tmp_path, ROW.format(term="on_demand", usd=3), row))
    assert prices.quote("h100_sxm").provider == "own"
    assert prices.quote("h100_sxm", "spot").provider == "a reseller"


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (ROW.format(term="spott", usd=2), "`prices.0.term` should be"),
        (ROW.format(term="spot", usd=0), "`prices.0.usd_per_gpu_hour` should be greater than 0"),
        (
            ROW.format(term="spot", usd=2).replace("usd_per_gpu_hour", "usd_per_hour"),
            "did you mean `usd_per_gpu_hour`?",
        ),
        (ROW.format(term="spot", usd=2).replace("2026-05-01", "spring"), "`prices.0.as_of`"),
    ],
)
def test_a_slip_in_a_price_list_is_told_with_its_key(
    tmp_path: Path, row: str, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_price_list(_own(tmp_path, row))
    assert problem in str(caught.value)


def test_an_unknown_list_is_refused_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean runpod"):
        load_price_list("run-pod")
