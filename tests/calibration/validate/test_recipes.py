"""What the suites' scripts set, worked out by hand from their lines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate.recipes import drafted_tokens, recipe_of
from calibration.validate.replay import Prediction, predict, scenario_of
from calibration.validate.runs import MeasuredRun, read_runs

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
        ({"concurrency": 64, "expert_parallel": 8}, 0),  # older than either sweep: not known
        ({"concurrency": 128, "output_tokens": 8192, **SPREAD}, 1),  # swept with drafts only
        ({"concurrency": 256, "output_tokens": 8192, **SPREAD}, 0),  # in both sweeps
        ({"concurrency": 4, "engine": "sglang"}, 0),
        ({"concurrency": 4, "gpu": "h200_sxm"}, 0),
    ],
)
def test_only_runs_known_to_have_drafted_tokens_draft_them(
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


def test_three_drafts_give_the_published_tokens_a_pass(a_run: Callable[..., MeasuredRun]) -> None:
    # 2.82 with three drafts and 1.92 with one: TensorRT-LLM's page on DeepSeek-R1 on B200.
    three = scenario_of(a_run(ON_EIGHT | {"concurrency": 4})).decoding
    assert three.mean_tokens_per_pass() == pytest.approx(2.82)
    one = scenario_of(a_run(ON_EIGHT | {"concurrency": 128, "output_tokens": 8192, **SPREAD}))
    assert one.decoding.mean_tokens_per_pass() == pytest.approx(1.92)


def test_drafts_gain_less_than_the_tokens_they_yield(a_run: Callable[..., MeasuredRun]) -> None:
    drafting = predict(a_run(ON_EIGHT | {"concurrency": 1, "output_tokens": 256}), "mean")
    # A prompt of 1,023 tokens is none of the suite's, so that nothing is known to be drafted.
    cells = {"concurrency": 1, "input_tokens": 1023, "output_tokens": 256}
    plain = predict(a_run(ON_EIGHT | cells), "mean")
    assert isinstance(drafting, Prediction)
    assert isinstance(plain, Prediction)
    assert drafting.tpot_ms is not None
    assert plain.tpot_ms is not None
    assert plain.tpot_ms / 2.82 < drafting.tpot_ms < plain.tpot_ms


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"measured_on": "2026-03-25"}, ("bf16", 8192, 0.95, 2)),
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


def test_a_token_budget_is_of_each_rank(a_run: Callable[..., MeasuredRun]) -> None:
    ranks = {"tensor_parallel": 1, "attention_data_parallel": 4, "expert_parallel": 4}
    lengths = {"input_tokens": 1024, "output_tokens": 1024, "measured_on": "2026-04-27"}
    assert recipe_of(a_run(M25 | ranks | lengths)).max_batched_tokens == 4 * 2048


SGLANG = {"model": "deepseek-ai/DeepSeek-R1", "engine": "sglang", "weights": "fp8"}
LONG = {"tensor_parallel": 8, "input_tokens": 8192, "output_tokens": 1024}


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"gpu": "h200_sxm", "concurrency": 64}, ("bf16", 32768, 0.82, 10, None)),
        ({"gpu": "b200_sxm", "concurrency": 16}, ("fp8", 32768, 0.82, 30, 30)),
        ({"gpu": "b200_sxm", "concurrency": 8}, ("fp8", 32768, 0.82, 30, 10)),
        (
            {"gpu": "b200_sxm", "concurrency": 16, "tensor_parallel": 4},
            ("fp8", 8192, 0.95, 30, 10),
        ),
        (
            {"gpu": "b200_sxm", "concurrency": 16, "tensor_parallel": 4, "weights": "fp4"},
            ("fp8", 16384, 0.85, 10, 30),
        ),
    ],
)
def test_deepseek_on_sglang_streams_and_looks_for_requests_as_its_scripts_say(
    a_run: Callable[..., MeasuredRun],
    cells: dict[str, object],
    told: tuple[str, int, float, int, int | None],
) -> None:
    recipe = recipe_of(a_run(SGLANG | LONG | cells))
    assert recipe.scheduler is None
    options = recipe.engine_options
    keys = ("memory_fraction", "stream_interval_tokens", "pick_up_every_passes")
    found = (recipe.kv_precision, recipe.max_batched_tokens, *(options.get(key) for key in keys))
    assert found == told
    assert ("all_reduce_of" in options) == (cells["gpu"] == "b200_sxm")


def test_generated_sglang_servers_mix_prompts_into_decode_passes(
    a_run: Callable[..., MeasuredRun],
) -> None:
    cells = {"engine": "sglang", "concurrency": 240, "input_tokens": 2000, "output_tokens": 100}
    recipe = recipe_of(a_run(cells))
    assert recipe.scheduler == {"kind": "chunked_prefill"}
    # --chunked-prefill-size of a GPU with 90 to 160 GiB (server_args.py)
    assert recipe.max_batched_tokens == 8192
