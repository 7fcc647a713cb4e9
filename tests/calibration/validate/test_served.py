"""Which checkpoint a row's model and label of the weights mean."""

from collections.abc import Callable
from pathlib import Path

import pytest

from calibration.validate import read_runs
from calibration.validate.replay import scenario_of, served_of
from sim.scenario import resolve

Row = Callable[..., str]
RunsFile = Callable[..., Path]
V2 = "nvidia/DeepSeek-R1-0528-FP4-V2"


@pytest.mark.parametrize(
    ("model", "weights", "served"),
    [
        ("deepseek-ai/DeepSeek-R1", "fp8", ("deepseek-ai/DeepSeek-R1", "checkpoint")),  # by blocks
        ("deepseek-ai/DeepSeek-R1", "fp4", (V2, "checkpoint")),  # NVIDIA's, which the suite serves
        ("openai/gpt-oss-120b", "fp4", ("openai/gpt-oss-120b", "checkpoint")),  # MXFP4
        ("moonshotai/Kimi-K2.5", "int4", ("moonshotai/Kimi-K2.5", "checkpoint")),
        ("moonshotai/Kimi-K2.5", "fp4", ("nvidia/Kimi-K2.5-NVFP4", "checkpoint")),
        ("Qwen/Qwen3-32B", "fp8", ("Qwen/Qwen3-32B-FP8", "checkpoint")),
        ("Qwen/Qwen3-32B", "bf16", ("Qwen/Qwen3-32B", "checkpoint")),
        ("meta-llama/Llama-3.1-70B", "fp8", ("meta-llama/Llama-3.1-70B", "fp8")),
        ("meta-llama/Llama-3.1-8B", "fp4", ("meta-llama/Llama-3.1-8B", "nvfp4")),
        ("moonshotai/Kimi-K2.5", "bf16", ("moonshotai/Kimi-K2.5", "bf16")),  # attention alone is
        ("openai/gpt-oss-120b", "int8", ("openai/gpt-oss-120b", "int8")),
    ],
)
def test_a_label_means_the_published_checkpoint_where_there_is_one(
    runs_file: RunsFile, row: Row, model: str, weights: str, served: tuple[str, str]
) -> None:
    (run,) = read_runs(runs_file(row(model=model, weights=weights)))
    found = served_of(run)
    assert (found.reference, found.weights) == served


def test_deepseek_in_four_bits_keeps_its_attention_in_sixteen(
    runs_file: RunsFile, row: Row
) -> None:
    # The model card of V2: beside the experts it quantises the output projection of attention.
    cells = {"model": "deepseek-ai/DeepSeek-R1", "gpu": "b200_sxm", "tensor_parallel": 8}
    (run,) = read_runs(runs_file(row(weights="fp4", **cells)))
    model = resolve(scenario_of(run)).model
    formats = [model.weights.of(part) for part in ("attention", "attention_output", "experts")]
    assert formats == ["bf16", "nvfp4", "nvfp4"]


@pytest.mark.parametrize(
    ("engine", "kv"), [("trtllm", "fp8"), ("vllm", "bf16"), ("sglang", "bf16")]
)
def test_tensorrt_llm_takes_the_caches_format_from_the_checkpoint(
    runs_file: RunsFile, row: Row, engine: str, kv: str
) -> None:
    # hf_quant_config.json of nvidia/Llama-3.3-70B-Instruct-FP4: `"kv_cache_quant_algo": "FP8"`.
    cells = {"model": "nvidia/Llama-3.3-70B-Instruct-FP4", "gpu": "b200_sxm", "weights": "fp4"}
    (run,) = read_runs(runs_file(row(engine=engine, **cells)))
    assert scenario_of(run).deployment.kv_precision == kv
