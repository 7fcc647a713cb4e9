import re
from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate.recipes import recipe_of
from calibration.validate.replay import Prediction, Refusal, predict, scenario_of
from calibration.validate.runs import MeasuredRun, read_runs
from sim.scenario import resolve
from sim.workload import Uniform

Row = Callable[..., str]
RunsFile = Callable[..., Path]


@pytest.fixture
def a_run(runs_file: RunsFile, row: Row) -> Callable[..., MeasuredRun]:
    return lambda **cells: read_runs(runs_file(row(**cells)))[0]


def test_a_run_is_driven_as_the_suites_do(a_run: Callable[..., MeasuredRun]) -> None:
    scenario = scenario_of(a_run(concurrency=4, input_tokens=1024, output_tokens=8192))
    assert scenario.run.requests == 40  # ten prompts per user
    assert scenario.workload.input_tokens == Uniform(low=819, high=1024)
    assert scenario.workload.output_tokens == Uniform(low=6553, high=8192)
    assert scenario.pipeline.total_s == 0
    assert scenario.workload.draw(40, 0).users == 4


def test_lengths_of_the_team_that_drives_genai_perf_are_means(
    a_run: Callable[..., MeasuredRun],
) -> None:
    workload = scenario_of(a_run(input_tokens=1000, output_tokens=100)).workload
    assert workload.input_tokens == Uniform(low=900, high=1100)
    assert workload.output_tokens == Uniform(low=90, high=110)


def test_one_user_gets_the_time_of_a_hand_made_decode(a_run: Callable[..., MeasuredRun]) -> None:
    # One user: every pass is a pass of one sequence, so TPOT is the pass time at the mean context.
    run = a_run(engine="generic", concurrency=1, input_tokens=1000, output_tokens=100)
    result = predict(run, "mean")
    assert isinstance(result, Prediction)
    # The floor: 7.5e9 weights (all but the input embedding) in bf16 over 3.35 TB/s.
    floor_ms = 7.505e9 * 2 / 3.35e12 * 1e3
    kv_ms = 1050 * 2 * 32 * 8 * 128 * 2 / 3.35e12 * 1e3
    # Kernels reach 75 to 100 % of the bandwidth; launches, small kernels and the host take 10 to
    # 40 us a layer.
    assert result.tpot_ms is not None
    assert floor_ms + kv_ms + 32 * 0.010 < result.tpot_ms
    assert result.tpot_ms < (floor_ms + kv_ms) / 0.75 + 32 * 0.040
    assert result.ttft_ms > 0


def test_mean_and_median_ttft_differ_where_users_queue(a_run: Callable[..., MeasuredRun]) -> None:
    run = a_run(concurrency=8, input_tokens=4000, output_tokens=20)
    mean, median = predict(run, "mean"), predict(run, "median")
    assert isinstance(mean, Prediction)
    assert isinstance(median, Prediction)
    assert mean.ttft_ms != median.ttft_ms
    assert mean.tpot_ms == median.tpot_ms


@pytest.mark.parametrize(
    ("engine", "weights", "kv"),
    [
        ("vllm", "fp8", "bf16"),
        ("sglang", "fp8", "bf16"),
        ("trtllm", "fp8", "fp8"),
        ("trtllm", "bf16", "bf16"),
    ],
)
def test_the_kv_cache_has_the_engines_default_precision(
    a_run: Callable[..., MeasuredRun], engine: str, weights: str, kv: str
) -> None:
    run = a_run(engine=engine, weights=weights)
    assert recipe_of(run).kv_precision == kv
    assert resolve(scenario_of(run)).cost.deployment.kv_precision == kv


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"model": "nobody/knows-7b"}, "nobody/knows-7b is not in the catalog"),
        ({"gpu": "h100_sx"}, "did you mean .*h100_sxm"),
        ({"engine": "lmdeploy"}, "no engine named `lmdeploy`"),
        ({"weights": "fp3"}, "weights in fp3 are not counted"),
        ({"expert_parallel": 8}, "experts over 8 GPUs, but a stage has 1 "),
        ({"expert_parallel": 2, "tensor_parallel": 2}, "has no experts to spread"),
        ({"gpu": "h100_pcie", "attention_data_parallel": 16}, "spans nodes of 8 h100_pcie"),
        ({"tensor_parallel": 3}, "tensor_parallel: 3 GPUs cannot"),
        ({"tensor_parallel": 65}, "tensor_parallel"),
        ({"model": "llama-3.1-70b"}, "needs .* GB per GPU"),
        ({"input_tokens": 200_000}, "longer than the KV pool or the context"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_the_reason(
    a_run: Callable[..., MeasuredRun], cells: dict[str, object], reason: str
) -> None:
    result = predict(a_run(**cells), "mean")
    assert isinstance(result, Refusal)
    assert result.case == "a"
    assert "\n" not in result.reason
    assert re.search(reason, result.reason)
