"""Six tiles: each with number, interval and origin, or the reason why there is none."""

from dataclasses import replace

import pytest

from app.dashboard.tiles import Tile, tiles
from sim.metrics.summary import Summary
from sim.run import Outcome

NAMES = (
    *("TTFT p99", "TPOT p99", "On target"),
    *("Tokens/s per GPU", "$ per 1M output", "Cost per month"),
)


def by_name(outcome: Outcome, no_price: str | None = None) -> dict[str, Tile]:
    return {tile.name: tile for tile in tiles(outcome, no_price)}


def with_ttft(outcome: Outcome, p99: float | None) -> Outcome:
    interval = None if p99 is None else (0.9 * p99, 1.1 * p99)
    summary = Summary(0.1, 0.1, 0.1, p99, None, interval, 900 if p99 is None else 1200)
    latency = {**outcome.metrics.latency, "ttft": summary}
    return replace(outcome, metrics=replace(outcome.metrics, latency=latency))


def test_every_tile_has_a_number_an_interval_and_an_origin(outcome: Outcome) -> None:
    shown = tiles(outcome, None)
    assert tuple(tile.name for tile in shown) == NAMES
    for tile in shown:
        assert tile.value
        assert "–" in tile.chip or tile.name == "Cost per month"
        assert tile.origin in {"calibrated", "list price"}


@pytest.mark.parametrize(
    ("p99_s", "value", "verdict"),
    [(0.9, "900 ms", "green"), (1.0, "1.00 s", "green"), (1.2, "1.20 s", "red")],
)
def test_a_target_is_met_up_to_and_with_its_limit(
    outcome: Outcome, p99_s: float, value: str, verdict: str
) -> None:
    tile = by_name(with_ttft(outcome, p99_s))["TTFT p99"]  # the limit is 1 s
    assert tile.value == value
    assert verdict in tile.verdict
    assert ("≤ 1 s" if verdict == "green" else "over 1 s") in tile.verdict


def test_too_few_requests_give_no_percentile_and_no_verdict(outcome: Outcome) -> None:
    tile = by_name(with_ttft(outcome, None))["TTFT p99"]
    assert (tile.value, tile.chip, tile.verdict) == (None, "too few requests", "")


def test_the_bill_is_gpus_times_price_times_730_hours(outcome: Outcome) -> None:
    tile = by_name(outcome)["Cost per month"]
    assert (tile.value, tile.chip) == ("$5,825", "2 × $3.99/h")  # 2 x 3.99 x 730 = 5,825.4


def test_without_a_price_the_money_tiles_say_so_and_why(outcome: Outcome) -> None:
    shown = by_name(replace(outcome, cost=None), "no price: none is listed")
    for name in NAMES[4:]:
        assert (shown[name].value, shown[name].chip) == (None, "no price")
        assert "none is listed" in shown[name].help


def test_under_overload_no_latency_is_known_but_what_is_done_and_the_bill_are(
    outcome: Outcome,
) -> None:
    metrics = replace(outcome.metrics, status="overloaded")
    calm, shown = by_name(outcome), by_name(replace(outcome, metrics=metrics))
    assert [shown[name].value for name in NAMES[:3]] == [None] * 3
    assert [shown[name].value for name in NAMES[3:]] == [calm[name].value for name in NAMES[3:]]
    assert {shown[name].chip for name in NAMES[:3]} == {"queue grows"}
    assert all("all it can do" in shown[name].help for name in NAMES[3:5])
    assert "over 1 s" in shown["TTFT p99"].verdict
