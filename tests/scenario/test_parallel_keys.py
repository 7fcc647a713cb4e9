"""Keys of a deployment that say where requests go and what they share."""

import pytest

from sim.errors import InputError
from sim.run import run
from sim.scenario import load_scenario, resolve

START = "chat-70b-h100"
FEW = "run.requests=200"


@pytest.mark.parametrize("name", ["least_outstanding", "least_kv", "power_of_two", "prefix_aware"])
def test_a_router_is_named_in_one_word(name: str) -> None:
    scenario = load_scenario(START, [f"deployment.router={name}", FEW])
    assert scenario.deployment.router.kind == name
    outcome = run(scenario, intervals=False)
    assert outcome.metrics.requests.finished == 200
    assert not any("served in turn" in line for line in outcome.not_modelled)


def test_a_router_with_settings_survives_being_written_down() -> None:
    wanted = {"kind": "prefix_aware", "balance_requests": 3}
    scenario = load_scenario(START).with_deployment(router=wanted)  # type: ignore[arg-type]
    assert scenario.deployment.model_dump()["router"] == wanted


def test_an_unknown_router_is_refused_in_one_sentence() -> None:
    with pytest.raises(InputError, match="router"):
        load_scenario(START, ["deployment.router=fastest"])


def test_ranks_and_stages_become_lanes_that_share_places_budget_and_kv() -> None:
    layout = ["deployment.attention_data_parallel=2", "deployment.pipeline_parallel=3"]
    sizes = ["deployment.max_sequences=100", "deployment.num_gpu_blocks=999"]
    limits = resolve(load_scenario(START, [*layout, *sizes])).limits
    assert limits.lanes == 6
    assert limits.lane.max_sequences == 17  # 100 / 6, and nobody is left out
    assert limits.lane.max_batched_tokens == limits.max_batched_tokens // 2
    assert limits.kv.blocks == 2 * 999  # blocks are those of one GPU; ranks have their own
    assert limits.lane.kv.blocks == 333


def test_a_rank_whose_share_of_the_budget_is_too_small_for_a_pass_is_refused() -> None:
    small = ["deployment.attention_data_parallel=4", "deployment.max_batched_tokens=3"]
    with pytest.raises(InputError, match="of each rank"):
        resolve(load_scenario(START, small))


def test_prefixes_are_kept_where_the_kv_of_a_prompt_stands_alone() -> None:
    assert resolve(load_scenario(START)).limits.prefix_cache
    off = resolve(load_scenario(START, ["deployment.prefix_cache=false"]))
    assert not off.limits.prefix_cache


def test_recurrent_states_are_not_kept_and_the_report_says_so() -> None:
    hybrid = ["model=qwen3-next-80b-a3b", "deployment.tensor_parallel=2", FEW]
    outcome = run(load_scenario(START, hybrid), intervals=False)
    assert not outcome.serving.limits.prefix_cache
    assert outcome.provenance["prefix cache"].source.startswith("off")
    assert "prefix cache" not in run(load_scenario(START, [FEW]), intervals=False).provenance
