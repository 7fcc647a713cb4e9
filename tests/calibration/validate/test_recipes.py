"""What the suites' scripts set, worked out by hand from their lines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate.recipes import recipe_of
from calibration.validate.recipes.recipe import graph_sizes
from calibration.validate.recipes.trtllm import drafted_tokens
from calibration.validate.replay import Prediction, predict, scenario_of
from calibration.validate.runs import MeasuredRun, read_runs
from sim.hardware import load_engine

Row = Callable[..., str]
RunsFile = Callable[..., Path]
R1 = {"model": "deepseek-ai/DeepSeek-R1", "gpu": "b200_sxm", "engine": "trtllm", "weights": "fp8"}
ON_EIGHT = R1 | {"tensor_parallel": 8, "input_tokens": 1024, "output_tokens": 1024}
SPREAD = {"tensor_parallel": 1, "attention_data_parallel": 8, "expert_parallel": 8}
M25 = {"model": "MiniMaxAI/MiniMax-M2.5", "gpu": "b200_sxm", "engine": "vllm", "weights": "fp8"}


@pytest.fixture
def a_run(runs_file: RunsFile, row: Row) -> Callable[..., MeasuredRun]:
    return lambda cells: read_runs(runs_file(row(**cells)))[0]


@pytest.mark.parametrize(
    ("cells", "drafted"),
    [
        ({"concurrency": 16}, 3),  # swept with drafts only
        ({"concurrency": 4}, 3),  # without them the suite measured 8.69 ms, the table has 5.38
        ({"concurrency": 64, "output_tokens": 8192}, 3),
        ({"concurrency": 16, "tensor_parallel": 4}, 0),  # swept without drafts only
        ({"concurrency": 64, "input_tokens": 8192}, 0),  # in both sweeps: not known
        ({"concurrency": 64, "expert_parallel": 8}, 3),  # in both; too quick without
        ({"concurrency": 8, "input_tokens": 8192, "expert_parallel": 8}, 0),  # in both: not known
        ({"concurrency": 128, "output_tokens": 8192, **SPREAD}, 1),  # swept with drafts only
        ({"concurrency": 256, "output_tokens": 8192, **SPREAD}, 0),  # in both sweeps
        ({"concurrency": 128, **SPREAD}, 1),  # swept with drafts only
        ({"concurrency": 64, **SPREAD}, 0),  # in both
        ({"concurrency": 64, "input_tokens": 8192, **SPREAD}, 1),  # swept with drafts only
        ({"concurrency": 4, "engine": "sglang"}, 0),
        ({"concurrency": 4, "gpu": "h200_sxm"}, 0),  # in both sweeps
        ({"concurrency": 128, "gpu": "h200_sxm", **SPREAD}, 1),  # swept with drafts only
        ({"concurrency": 128, "gpu": "h200_sxm", "expert_parallel": 8}, 3),
    ],
)
def test_runs_that_the_sweeps_or_their_speed_tell_drafted_draft(
    a_run: Callable[..., MeasuredRun], cells: dict[str, object], drafted: int
) -> None:
    run = a_run(ON_EIGHT | cells)
    assert drafted_tokens(run) == drafted
    name = "speculative" if drafted else "autoregressive"
    assert scenario_of(run).decoding.name == name


def test_a_drafting_server_takes_one_prompt_a_pass(a_run: Callable[..., MeasuredRun]) -> None:
    # ((3 + 1) x 4 + 1024 + 64 + 63) / 64 = 18 whole, x 64; of each of eight ranks with 16 users
    # ((1 + 1) x 16 + 1024 + 127) / 64 = 18 as well.
    assert recipe_of(a_run(ON_EIGHT | {"concurrency": 4})).max_batched_tokens == 1152
    ranks = a_run(ON_EIGHT | {"concurrency": 128, "output_tokens": 8192, **SPREAD})
    assert recipe_of(ranks).max_batched_tokens == 8 * 1152
    assert recipe_of(ranks).engine_options == {"memory_fraction": 0.7}
    # Without drafts at least 8192: (64 + 8192 + 127) / 64 = 130 whole.
    long = a_run(ON_EIGHT | {"concurrency": 64, "input_tokens": 8192})
    assert recipe_of(long).max_batched_tokens == 130 * 64


def test_the_first_server_with_experts_spread_takes_one_prompt_a_pass(
    a_run: Callable[..., MeasuredRun],
) -> None:
    # (64 + 8192 + 64 + 63) / 64 = 130 whole, x 64; `free_gpu_memory_fraction: 0.8`
    cells = {"expert_parallel": 8, "concurrency": 64, "input_tokens": 8192}
    recipe = recipe_of(a_run(ON_EIGHT | cells))
    assert (recipe.kv_precision, recipe.max_batched_tokens) == ("fp8", 130 * 64)
    assert recipe.engine_options["memory_fraction"] == 0.8
    # With drafts ((3 + 1) x 4 + 1843 + 127) / 64 = 31 whole: 1.8 x 1024 = 1843.2
    short = recipe_of(a_run(ON_EIGHT | {"expert_parallel": 8, "concurrency": 4}))
    assert short.max_batched_tokens == 31 * 64
    assert short.decoding == {
        "name": "speculative",
        "drafter": "mtp",
        "table": "mtp3-deepseek-r1",
        "draft_tokens": 3,
    }


def test_three_drafts_give_the_published_tokens_a_pass(a_run: Callable[..., MeasuredRun]) -> None:
    # 2.82 with three drafts and 1.92 with one: TensorRT-LLM's page on DeepSeek-R1 on B200.
    three = scenario_of(a_run(ON_EIGHT | {"concurrency": 4})).decoding
    assert three.mean_tokens_per_pass() == pytest.approx(2.82)
    one = scenario_of(a_run(ON_EIGHT | {"concurrency": 128, "output_tokens": 8192, **SPREAD}))
    assert one.decoding.mean_tokens_per_pass() == pytest.approx(1.92)


def test_drafts_gain_less_than_the_tokens_they_yield(a_run: Callable[..., MeasuredRun]) -> None:
    run = a_run(ON_EIGHT | {"concurrency": 1})
    drafting, plain = (predict(run, "mean", settings=whose) for whose in ("suite", "engine"))
    assert isinstance(drafting, Prediction)
    assert isinstance(plain, Prediction)
    assert drafting.tpot_ms is not None
    assert plain.tpot_ms is not None
    assert plain.tpot_ms / 2.82 < drafting.tpot_ms < plain.tpot_ms


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"measured_on": "2026-03-25"}, ("bf16", 8192, 0.95, 2)),
        ({"measured_on": "2026-03-25", "expert_parallel": 2}, ("fp8", 2048, 0.9, 2)),
        ({"measured_on": "2026-04-27"}, ("fp8", 2048, 0.9, 1)),
        ({"measured_on": ""}, ("fp8", 2048, 0.9, 1)),
        ({"measured_on": "2026-04-27", "input_tokens": 8192}, ("fp8", 16384, 0.9, 1)),
        ({"measured_on": "2026-04-06", "output_tokens": 8192}, ("bf16", 8192, 0.95, 2)),
        ({"gpu": "h200_sxm", "tensor_parallel": 4}, ("bf16", 8192, 0.95, 1)),
        ({"gpu": "h200_sxm", "tensor_parallel": 8}, ("bf16", 8192, 0.95, 8)),
    ],
)
def test_minimax_goes_by_the_script_of_its_time(
    a_run: Callable[..., MeasuredRun],
    cells: dict[str, object],
    told: tuple[str, int, float, int],
) -> None:
    lengths = {"tensor_parallel": 2, "input_tokens": 1024, "output_tokens": 1024}
    recipe = recipe_of(a_run(M25 | lengths | cells))
    share = recipe.engine_options["memory_fraction"]
    found = (recipe.kv_precision, recipe.max_batched_tokens, share, recipe.expert_parallel)
    assert found == told


@pytest.mark.parametrize(
    ("cells", "whose"),
    [
        # vLLM 0.16 on Hopper: FlashInfer's CUTLASS experts, of TensorRT-LLM (issue 34249)
        ({"gpu": "h200_sxm", "tensor_parallel": 4}, "trtllm"),
        # experts spread: the same kernel, in vLLM's own timings
        ({"gpu": "h200_sxm", "tensor_parallel": 8}, None),
        # VLLM_USE_FLASHINFER_MOE_FP8=0 and VLLM_MOE_USE_DEEP_GEMM=0 leave Triton's
        ({"gpu": "b200_sxm", "tensor_parallel": 4, "output_tokens": 8192}, "vllm_triton"),
        ({"gpu": "b200_sxm", "tensor_parallel": 4}, None),
    ],
)
def test_minimax_runs_the_experts_that_its_script_and_version_take(
    a_run: Callable[..., MeasuredRun], cells: dict[str, object], whose: str | None
) -> None:
    given = {"input_tokens": 1024, "output_tokens": 1024, "measured_on": "2026-04-27"}
    assert (
        recipe_of(a_run(M25 | given | cells)).engine_options.get("fp8_block_experts_of") == whose
    )


def test_vllm_captures_sizes_by_eight_and_by_sixteen() -> None:
    sizes = graph_sizes(512)
    assert sizes == list(load_engine("vllm").graph_batch_sizes)  # vLLM's own, written out
    # 1, 2, 4; 8 to 248 by 8: 31; 256 to 2,048 by 16: 113
    assert len(graph_sizes(2048)) == 3 + 31 + 113
    assert graph_sizes(20) == [1, 2, 4, 8, 16]


def test_a_token_budget_is_of_each_rank(a_run: Callable[..., MeasuredRun]) -> None:
    ranks = {"tensor_parallel": 1, "attention_data_parallel": 4, "expert_parallel": 4}
    lengths = {"input_tokens": 1024, "output_tokens": 1024, "measured_on": "2026-04-27"}
    assert recipe_of(a_run(M25 | ranks | lengths)).max_batched_tokens == 4 * 2048


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        # model, engine, GPU, weights, users, lengths -> cache, tokens a pass, options; worked out
        # by hand from the lines of the scripts
        (
            ("nvidia/DeepSeek-R1-0528-FP4-V2", "sglang", "b200_sxm", "fp4", 16, 1024),
            ("fp8", 16384, {"memory_fraction": 0.85, "pick_up_every_passes": 30, "stream": 10}),
        ),
        (
            ("nvidia/DeepSeek-R1-0528-FP4-V2", "trtllm", "b200_sxm", "fp4", 128, 8192),
            # (128 + 8192 + 127) / 64 = 131 whole
            ("fp8", 131 * 64, {"memory_fraction": 0.8, "stream": 10}),
        ),
        (
            ("deepseek-ai/DeepSeek-R1", "trtllm", "h200_sxm", "fp8", 64, 1024),
            ("fp8", 8192, {"memory_fraction": 0.75, "stream": 10}),
        ),
        (
            ("openai/gpt-oss-120b", "vllm", "b200_sxm", "fp4", 64, 1024),
            ("fp8", 8192, {"mxfp4_experts_of": "trtllm", "graphs": 2048}),
        ),
        (
            ("openai/gpt-oss-120b", "trtllm", "h200_sxm", "fp4", 64, 1024),
            ("bf16", 20000, {"memory_fraction": 0.85, "stream": 20}),
        ),
        (
            ("moonshotai/Kimi-K2.5", "vllm", "b200_sxm", "fp4", 4, 8192),
            ("fp8", 16384, {"memory_fraction": 0.9, "stream": 20}),
        ),
        (
            ("Qwen/Qwen3.5-397B-A17B", "sglang", "b200_sxm", "fp8", 8, 1024),
            ("fp8", 16384, {"memory_fraction": 0.8, "pick_up_every_passes": 30, "stream": 50}),
        ),
        (
            ("Qwen/Qwen3.5-397B-A17B", "sglang", "b200_sxm", "fp8", 4, 1024),
            ("fp8", 16384, {"memory_fraction": 0.8, "pick_up_every_passes": 10, "stream": 50}),
        ),
        (
            ("zai-org/GLM-5", "sglang", "b300_sxm", "fp8", 4, 1024),
            ("fp8", 32768, {"memory_fraction": 0.85, "stream": 30}),
        ),
        (
            ("meta-llama/Llama-3.1-70B", "trtllm", "b200_sxm", "fp4", 4, 8192),
            ("fp8", 16384, {"stream": 10}),
        ),
    ],
)
def test_scripts_of_the_suite_set_what_their_lines_say(
    a_run: Callable[..., MeasuredRun],
    cells: tuple[str, str, str, str, int, int],
    told: tuple[str, int, dict[str, float]],
) -> None:
    names = ("model", "engine", "gpu", "weights", "concurrency", "input_tokens")
    given = dict(zip(names, cells, strict=True))
    recipe = recipe_of(a_run(given | {"output_tokens": 1024, "tensor_parallel": 8}))
    options = dict(recipe.engine_options)
    stream = options.pop("stream_interval_tokens", None)
    if stream is not None:
        assert options.pop("stream_first_token") is True
        options["stream"] = stream
    graphs = options.pop("graph_batch_sizes", None)
    if graphs is not None:
        options["graphs"] = graphs[-1]  # type: ignore[index]
    assert (recipe.kv_precision, recipe.max_batched_tokens, options) == told
    assert "@" in recipe.script


def test_llamas_prompts_are_held_on_fewer_than_eight_gpus_alone(
    a_run: Callable[..., MeasuredRun],
) -> None:
    llama = R1 | {"model": "meta-llama/Llama-3.1-70B", "input_tokens": 1024, "output_tokens": 1024}
    few = recipe_of(a_run(llama | {"tensor_parallel": 4})).engine_options
    assert (few["hold_passes"], few["hold_token_share"]) == (20, 0.9)
    assert "hold_passes" not in recipe_of(a_run(llama | {"tensor_parallel": 8})).engine_options
    # gpt-oss and other models have no such lines.
    gpt = llama | {"model": "openai/gpt-oss-120b", "weights": "fp4", "tensor_parallel": 4}
    assert "hold_passes" not in recipe_of(a_run(gpt)).engine_options


@pytest.mark.parametrize(
    "cells",
    [
        {"model": "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"},
        {"model": "deepseek-ai/DeepSeek-V3.2"},
        {"model": "zai-org/GLM-5.1-FP8", "engine": "sglang"},
        {"model": "openai/gpt-oss-20b", "weights": "fp4"},
        {"gpu": "a100_sxm_80gb"},
    ],
)
def test_what_no_script_serves_takes_the_engines_defaults(
    a_run: Callable[..., MeasuredRun], cells: dict[str, object]
) -> None:
    run = a_run(R1 | {"input_tokens": 1024, "output_tokens": 1024} | cells)
    assert recipe_of(run) == recipe_of(run, "engine")


@pytest.mark.parametrize(
    ("engine", "gpu", "ranks", "tokens"),
    [
        ("vllm", "h100_sxm", 1, 8192),  # EngineArgs.get_batch_defaults: from 70 GiB on
        ("vllm", "a100_sxm_80gb", 1, 2048),  # the same: no A100
        ("vllm", "l40s", 1, 2048),
        ("vllm", "h100_sxm", 4, 4 * 8192),  # each rank has its own
        ("sglang", "l40s", 1, 4096),  # ServerArgs: below 60 GiB
        ("sglang", "h200_sxm", 1, 8192),
        ("sglang", "b200_sxm", 1, 16384),
        ("sglang", "b200_sxm", 4, 16384),  # shared out over the ranks
        ("trtllm", "l40s", 1, 8192),
        ("vllm", "abacus", 1, 8192),  # refused later, with the reason
    ],
)
def test_an_engines_own_budget_of_a_pass_goes_by_the_gpu(
    a_run: Callable[..., MeasuredRun], engine: str, gpu: str, ranks: int, tokens: int
) -> None:
    run = a_run({"engine": engine, "gpu": gpu, "attention_data_parallel": ranks})
    assert recipe_of(run).max_batched_tokens == tokens


@pytest.mark.parametrize(("users", "every"), [(4, 10), (16, 30)])
def test_deepseek_on_sglang_looks_for_requests_as_its_script_says(
    a_run: Callable[..., MeasuredRun], users: int, every: int
) -> None:
    cells = {"engine": "sglang", "concurrency": users, "input_tokens": 8192}
    options = recipe_of(a_run(ON_EIGHT | cells)).engine_options
    assert options["pick_up_every_passes"] == every
    assert options["all_reduce_of"] == "trtllm"  # --enable-flashinfer-allreduce-fusion


def test_generated_sglang_servers_mix_prompts_into_decode_passes(
    a_run: Callable[..., MeasuredRun],
) -> None:
    cells = {"engine": "sglang", "concurrency": 240, "input_tokens": 2000, "output_tokens": 100}
    run = a_run(cells)
    assert recipe_of(run).scheduler == {"kind": "chunked_prefill"}
    # SGLang's own chunk (ServerArgs): below 60 GiB, from 60 to 160, from 160 on
    for gpu, tokens in (("l40s", 4096), ("h200_sxm", 8192), ("b200_sxm", 16384)):
        assert recipe_of(a_run(cells | {"gpu": gpu})).max_batched_tokens == tokens
    assert recipe_of(run, "engine").scheduler is None
    assert recipe_of(a_run(cells | {"engine": "vllm"})).scheduler is None
