"""Scenarios of the catalog that promise targets keep them."""

import pytest

from sim.cost import even_load
from sim.run import run
from sim.scenario import load_scenario


@pytest.mark.parametrize(
    ("name", "gpus"),
    [("gpt-oss-120b-h100", 4), ("deepseek-r1-h200", 8), ("qwen3-30b-l40s", 1)],
)
def test_a_mixture_of_experts_serves_its_traffic_inside_the_targets(name: str, gpus: int) -> None:
    scenario = load_scenario(name, ["run.requests=400"])
    outcome = run(scenario)
    assert scenario.deployment.gpus == gpus
    assert outcome.metrics.status == "ok"
    assert outcome.metrics.requests.rejected == 0
    assert outcome.metrics.slo.attainment is not None
    assert outcome.metrics.slo.attainment >= scenario.slo.attainment
    assert outcome.cost is not None


def test_experts_of_deepseek_are_spread_and_no_latent_is_kept_twice() -> None:
    outcome = run(load_scenario("deepseek-r1-h200", ["run.requests=50"]))
    cost = outcome.serving.cost
    names = {operation.name for operation in cost.operations(even_load(cost, 8, 1000.0))}
    assert "exchange with the experts" in names
    assert "all-reduce" not in names
    assert outcome.serving.memory.kv_bytes_per_token == 61 * 576 * 2  # of one group
    split = outcome.scenario.with_deployment(attention_data_parallel=1, tensor_parallel=8)
    kept_once = outcome.serving.memory.pool_tokens
    assert kept_once > 4 * run(split).serving.memory.pool_tokens
