"""Choices of the sidebar mean the scenario that they were read from, and no other."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from app.dashboard import runs
from app.dashboard.choices import (
    FIXED,
    NO_PRICE,
    OWN_PRICE,
    Choices,
    as_keys,
    choices_of,
    priced,
    scenario_of,
)
from app.dashboard.strategies import AS_LISTED, BLOCK_DIFFUSION, DIFFUSION, SPECULATIVE, Knobs
from sim.decoding import BlockDiffusion, Diffusion, Speculative
from sim.scenario import Scenario, build_scenario, list_scenarios, load_scenario
from sim.workload import ClosedLoop, Fixed, Poisson

START = "chat-70b-h100"


@pytest.fixture
def start() -> Scenario:
    return load_scenario(START)


@pytest.fixture
def changed(start: Scenario) -> Callable[..., Scenario]:
    """The scenario of the start with some choices changed."""

    def change(**changes: object) -> Scenario:
        choices: Choices = replace(choices_of(start), **changes)  # type: ignore[arg-type]
        return scenario_of(choices, start)

    return change


@pytest.mark.parametrize("name", list_scenarios())
def test_a_scenario_that_is_opened_and_left_alone_stays_the_same(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario_of(choices_of(scenario), scenario) == scenario


@pytest.mark.parametrize("name", list_scenarios())
def test_every_strategy_that_a_scenario_lists_can_be_shown_and_read_back(name: str) -> None:
    scenario = load_scenario(name)
    for strategy in scenario.strategies:
        decoded = scenario.with_decoding(strategy)
        assert scenario_of(choices_of(decoded), decoded) == decoded


def test_a_downloaded_scenario_is_the_same_when_it_is_loaded_again(
    changed: Callable[..., Scenario], tmp_path: Path
) -> None:
    scenario = changed(strategy=SPECULATIVE, price=OWN_PRICE, usd_per_gpu_hour=2.5, load=4.5)
    path = tmp_path / "scenario.yaml"
    path.write_text(yaml.safe_dump(as_keys(scenario)), encoding="utf-8")
    assert load_scenario(path) == scenario


def test_the_knobs_of_the_catalogs_chain_are_its_figures(start: Scenario) -> None:
    choices = choices_of(start)  # [0.70, 0.65, 0.60], drafter 14 %
    assert (choices.draft_tokens, choices.accepted_percent, choices.fall_points) == (3, 70, 5)
    assert choices.drafter_percent == 14
    assert (choices.block_tokens, choices.denoise_passes) == (32, 8)


def test_a_chosen_chain_of_the_catalog_keeps_its_source(
    changed: Callable[..., Scenario], start: Scenario
) -> None:
    assert changed(strategy=SPECULATIVE).decoding == start.strategies[1]
    longer = changed(strategy=SPECULATIVE, draft_tokens=4).decoding
    assert isinstance(longer, Speculative)
    assert longer.conditional_acceptance == (0.70, 0.65, 0.60, 0.55)
    assert longer.source == "set on the page"


def test_acceptance_that_falls_stops_at_none() -> None:
    knobs = Knobs(draft_tokens=4, accepted_percent=50, fall_points=20)
    assert knobs.acceptance_percent == (50, 30, 10, 0)


def test_acceptance_by_domain_is_kept_as_it_is(start: Scenario) -> None:
    odd = Speculative.model_validate(
        {
            "draft_tokens": 1,
            "by_domain": {"chat": {"acceptance_rate": 0.6}, "code": {"acceptance_rate": 0.8}},
            "domain": "code",
            "draft": {"work_share": 0.1},
        }
    )
    scenario = start.with_decoding(odd)
    choices = choices_of(scenario)
    assert choices.strategy == AS_LISTED
    assert scenario_of(choices, scenario).decoding == odd


def test_diffusion_has_its_cache_and_its_canvas(changed: Callable[..., Scenario]) -> None:
    decoding = changed(
        strategy=DIFFUSION, cache="prefix", block_tokens=16, denoise_passes=4, canvas_tokens=64
    ).decoding
    assert decoding == Diffusion(
        cache="prefix", block_tokens=16, denoise_passes=4, canvas_tokens=64, what_if=True
    )
    llada = changed(strategy=DIFFUSION, model="llada-8b").decoding
    assert not llada.what_if
    assert llada == Diffusion(cache="dual", block_tokens=32, denoise_passes=8)


def test_block_diffusion_on_a_causal_model_is_a_what_if(changed: Callable[..., Scenario]) -> None:
    decoding = changed(strategy=BLOCK_DIFFUSION, block_tokens=16, denoise_passes=4).decoding
    assert decoding == BlockDiffusion(block_tokens=16, denoise_passes=4, what_if=True)


def test_lengths_and_load_can_be_set(changed: Callable[..., Scenario]) -> None:
    workload = changed(lengths=FIXED, input_tokens=512, output_tokens=256, load=12.0).workload
    assert workload.input_tokens == Fixed(tokens=512)
    assert workload.output_tokens == Fixed(tokens=256)
    assert workload.arrivals == Poisson(requests_per_s=12)


def test_the_load_of_a_closed_loop_is_its_users(start: Scenario) -> None:
    keys = as_keys(start)
    keys["workload"]["arrivals"] = {"kind": "closed_loop", "users": 24}
    scenario = build_scenario(keys, where="test", folder=Path())
    choices = choices_of(scenario)
    assert choices.load == 24
    more = scenario_of(replace(choices, load=48.0), scenario)
    assert more.workload.arrivals == ClosedLoop(users=48)


def test_a_target_of_nothing_asks_nothing(changed: Callable[..., Scenario]) -> None:
    slo = changed(ttft_ms=0.0, tpot_ms=25.0).slo
    assert slo.per_request_s() == {"tpot": 0.025}


def test_a_price_is_a_list_ones_own_or_none(changed: Callable[..., Scenario]) -> None:
    lambda_ = changed(price="lambda on demand").prices
    assert lambda_ is not None
    assert (lambda_.list_name, lambda_.term) == ("lambda", "on_demand")
    own = changed(price=OWN_PRICE, usd_per_gpu_hour=1.75).prices
    assert own is not None
    assert own.resolve("h100_sxm").usd_per_gpu_hour == 1.75
    assert changed(price=NO_PRICE).prices is None


def test_a_list_without_the_gpu_leaves_the_price_open_and_says_why(
    changed: Callable[..., Scenario],
) -> None:
    scenario, reason = priced(changed(gpu="gb200"))
    assert scenario.prices is None
    assert reason is not None
    assert "`runpod` has no on_demand price for `gb200`" in reason


def test_a_preview_is_short_and_gives_every_user_several_requests(start: Scenario) -> None:
    assert runs.of_length(start, 1_500).run.requests == 1_500
    crowd = start.with_workload(start.workload.with_users(1_000))
    assert runs.of_length(crowd, 1_500).run.requests == 4_000


@pytest.mark.parametrize("kind", ["evenly spaced", "bursty gaps", "bursts"])
def test_other_arrivals_keep_the_rate_and_are_read_back(
    kind: str, changed: Callable[..., Scenario], start: Scenario
) -> None:
    other = changed(arrivals=kind, load=6.0)
    assert other.workload.offered_requests_per_s == 6.0
    assert other.workload.arrivals.kind != "poisson"
    assert choices_of(other).arrivals == kind
    assert changed(arrivals="Poisson") == start
