from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sim.economics.prices import PriceChoice
from sim.errors import InputError

OWN = {"usd_per_gpu_hour": 2.5, "source": "our contract", "as_of": "2026-11"}


def test_a_price_of_ones_own_keeps_its_source_and_date() -> None:
    quote = PriceChoice.model_validate(OWN).resolve("h100_sxm")
    assert quote.usd_per_gpu_hour == 2.5
    assert quote.gpu == "h100_sxm"
    assert (quote.source, quote.as_of) == ("our contract", "2026-11")


def test_a_list_is_asked_for_the_gpu_and_the_term(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "provider: mine\n"
        "prices:\n"
        "  - {gpu: h100_sxm, term: on_demand, usd_per_gpu_hour: 3, instance: a,"
        " gpus_per_instance: 8, source: an invoice, as_of: 2026-10}\n"
        "  - {gpu: h100_sxm, term: reserved, usd_per_gpu_hour: 2, instance: b,"
        " gpus_per_instance: 8, source: an invoice, as_of: 2026-10}\n",
        encoding="utf-8",
    )
    on_demand = PriceChoice.model_validate({"list": str(path)})
    reserved = PriceChoice.model_validate({"list": str(path), "term": "reserved"})
    assert on_demand.resolve("h100_sxm").usd_per_gpu_hour == 3
    assert reserved.resolve("h100_sxm").usd_per_gpu_hour == 2
    with pytest.raises(InputError, match="b200_sxm"):
        reserved.resolve("b200_sxm")


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"list": "runpod", **OWN},
        {"usd_per_gpu_hour": 2.5},
        {"usd_per_gpu_hour": 2.5, "source": "our contract"},
        {**OWN, "term": "spot"},
        {**OWN, "usd_per_gpu_hour": -1},
        {**OWN, "source": "http://insecure.example"},
        {"list": "runpod", "as_of": "2026-11"},
        {"list": "runpod", "term": "forever"},
        {"lists": "runpod"},
    ],
)
def test_no_price_is_taken_that_nobody_vouches_for(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PriceChoice.model_validate(bad)


@pytest.mark.parametrize(
    ("provider", "gpus", "usd_per_gpu_hour"),
    [
        # RunPod rents one H100 for 3.99 USD, and eight for 22.32 USD
        ("runpod", 1, 3.99),
        ("runpod", 2, 2.79),
        ("runpod", 8, 2.79),
        ("runpod", 16, 2.79),  # none holds it: the first row
        # Lambda: 1x H100 4.29, 8x H100 3.99 USD per GPU-hour
        ("lambda", 1, 4.29),
        ("lambda", 4, 3.99),
        # Nebius has two rows of one GPU: the first
        ("nebius", 1, 2.95),
    ],
)
def test_a_replica_pays_for_the_smallest_instance_that_holds_it(
    provider: str, gpus: int, usd_per_gpu_hour: float
) -> None:
    choice = PriceChoice.model_validate({"list": provider})
    assert choice.resolve("h100_sxm", gpus).usd_per_gpu_hour == usd_per_gpu_hour
