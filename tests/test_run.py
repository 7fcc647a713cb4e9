"""The spine: one scenario in, one outcome out."""

from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

from sim.decoding import Autoregressive
from sim.provenance import weakest
from sim.run import Outcome, run
from sim.scenario import load_scenario

CHAT = "chat-70b-h100"
STRATEGIES = ("autoregressive", "speculative", "block_diffusion")


@cache
def outcome(strategy: str, *changes: str) -> Outcome:
    """Return the built-in chat scenario, decoded by one of the strategies that it lists."""
    scenario = load_scenario(CHAT, ["run.requests=1200", *changes])
    wanted = next(each for each in scenario.strategies if each.name == strategy)
    return run(scenario.with_decoding(wanted))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_of_the_scenario_serves_every_request(strategy: str) -> None:
    found = outcome(strategy)
    counts = found.metrics.requests
    assert (counts.offered, counts.unfinished) == (1200 - found.metrics.warmup_requests, 0)
    assert counts.finished + counts.rejected == counts.offered
    assert found.metrics.status == "ok"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_meet_the_same_arrivals_and_lengths(strategy: str) -> None:
    plain, other = outcome("autoregressive").simulation, outcome(strategy).simulation
    first = slice(0, 1200)
    for name in ("arrival_s", "input_tokens", "output_tokens"):
        ours, theirs = (getattr(each.records, name)[first] for each in (plain, other))
        assert (ours == theirs).all(), name


def test_the_same_scenario_gives_the_same_bytes() -> None:
    scenario = load_scenario(CHAT, ["run.requests=300"])
    one, two = run(scenario), run(scenario)
    for part in ("records", "leaps", "gaps", "in_system"):
        for field in fields(getattr(one.simulation, part)):
            first, second = (
                getattr(getattr(each.simulation, part), field.name) for each in (one, two)
            )
            assert _bytes(first) == _bytes(second), field.name
    assert one.metrics == two.metrics
    assert one.cost == two.cost


def _bytes(column: Any) -> bytes:
    """All bytes of an array, or of tuples of arrays."""
    if isinstance(column, tuple):
        return b"".join(map(_bytes, column))
    whole: bytes = column.tobytes()
    return whole


def test_another_seed_gives_another_sample_of_the_same_traffic() -> None:
    one, two = outcome("autoregressive"), outcome("autoregressive", "run.seed=1")
    rates = [each.metrics.throughput.offered_requests_per_s or 0.0 for each in (one, two)]
    assert rates[0] != rates[1]
    assert rates == pytest.approx([8, 8], rel=0.15)  # 1200 Poisson arrivals: 4 x 2.9 %


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_leaping_changes_no_answer(strategy: str) -> None:
    scenario = load_scenario(CHAT, ["run.requests=120", "deployment.replicas=1"])
    decoding = next(each for each in scenario.strategies if each.name == strategy)
    leap, step = (run(scenario.with_decoding(decoding), mode=mode) for mode in ("leap", "pass"))
    for name in ("admitted_s", "first_token_s", "last_token_s", "max_gap_s"):
        ours, theirs = (getattr(each.simulation.records, name) for each in (leap, step))
        assert ours == pytest.approx(theirs, rel=1e-9, nan_ok=True), name
    assert leap.simulation.events < step.simulation.events


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_paid_is_input_and_output_and_idle(strategy: str) -> None:
    found = outcome(strategy)
    cost = found.cost
    assert cost is not None
    assert cost.gpus == 8
    assert cost.usd_per_hour == pytest.approx(8 * cost.quote.usd_per_gpu_hour)
    shares = [cost.input_share, cost.output_share, cost.idle_share]
    assert all(share is not None and 0 < share < 1 for share in shares)
    assert sum(share or 0.0 for share in shares) == pytest.approx(1.0)
    busy = found.metrics.utilisation.busy
    assert busy == pytest.approx(1 - (cost.idle_share or 0.0))


def test_without_a_price_there_is_no_cost_and_all_else_is_the_same() -> None:
    scenario = load_scenario(CHAT, ["run.requests=200"])
    free = run(scenario.model_copy(update={"prices": None}))
    assert free.cost is None
    assert "price" not in free.provenance
    assert free.metrics == run(scenario).metrics


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_stages_of_the_waterfall_add_up_to_the_first_token(strategy: str) -> None:
    metrics = outcome(strategy).metrics
    total_s = sum(stage.mean_s for stage in metrics.waterfall)
    assert total_s == pytest.approx(metrics.latency["ttft"].mean, rel=1e-9)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_littles_law_holds_in_the_window(strategy: str) -> None:
    law = outcome(strategy).metrics.littles_law
    assert law.lhs is not None
    assert law.rhs is not None
    assert law.lhs == pytest.approx(law.rhs, rel=1e-9)


def test_every_part_says_where_it_comes_from_and_the_weakest_names_the_whole() -> None:
    plain, guess = outcome("autoregressive"), outcome("block_diffusion")
    for part in plain.provenance.values():
        assert part.origin in {"measured", "calibrated", "assumed"}
        assert part.source
    assert plain.provenance["decoding"].origin == "measured"
    assert guess.provenance["decoding"].origin == "assumed"
    assert "what-if" in guess.provenance["decoding"].source
    assert weakest(guess.provenance) == "assumed"
    assert weakest(plain.provenance) == plain.provenance["kernels"].origin


def test_weights_that_the_gpu_cannot_multiply_are_called_an_assumption() -> None:
    old = load_scenario(CHAT, ["run.requests=50", "hardware=a100_sxm_80gb", "prices.list=lambda"])
    found = run(old.model_copy(update={"prices": None}))
    assert found.serving.cost.compute_precision == "bf16"
    assert found.provenance["quantisation"].origin == "assumed"


def test_what_is_not_modelled_is_said() -> None:
    plain, drafted = outcome("autoregressive"), outcome("speculative")
    assert any("served in turn" in line for line in plain.not_modelled)
    assert any("acceptance" in line for line in drafted.not_modelled)
    assert not any("acceptance" in line for line in plain.not_modelled)
    alone = load_scenario(CHAT, ["run.requests=20", "deployment.replicas=1"])
    assert not any("served in turn" in line for line in run(alone).not_modelled)


def test_a_single_user_of_a_single_replica_waits_for_nobody() -> None:
    alone = load_scenario(
        CHAT,
        [
            "run.requests=40",
            "deployment.replicas=1",
            "workload.arrivals.kind=closed_loop",
            "workload.arrivals.users=1",
            "engine_options.ttft_offset_ms=0",
            "engine_options.tokenise_us_per_token=0",
        ],
    )
    records = run(alone.with_decoding(Autoregressive())).simulation.records
    assert np.array_equal(records.admitted_s, records.arrival_s)
    assert (np.diff(records.arrival_s) > 0).all()
    assert np.array_equal(records.arrival_s[1:], records.last_token_s[:-1])
