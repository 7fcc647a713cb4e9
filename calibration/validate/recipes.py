"""What the suites' public server scripts set, where an engine's default is something else.

Scripts: https://github.com/SemiAnalysisAI/InferenceX, `benchmarks/` (at first InferenceMAX). They
are facts of the runs, read there, and not fitted to a row. Scripts change; where a run was made
with another version of one, its row is off, and stays off.
"""

from dataclasses import dataclass, field
from typing import Final

from calibration.validate.runs import MeasuredRun
from sim.precision import Precision

MAX_BATCHED_TOKENS: Final = 8192
"""Token budget of a pass, as most of the scripts set it."""
HELD: Final = {"hold_passes": 20, "hold_token_share": 0.75}
"""`batch_wait_timeout_iters: 20` and `batch_wait_max_tokens_ratio: 0.75` of TensorRT-LLM.

The scripts set them for 1,024 tokens in and out on fewer than eight GPUs.
"""
HELD_LONGER: Final = {"hold_passes": 40, "hold_token_share": 0.8}
"""The same in the scripts of DeepSeek-R1, from 64 users on."""
FP8_KV_ENGINES: Final = frozenset({"trtllm"})
"""Engines that keep the KV cache of an FP8 checkpoint in FP8 when nothing is said about it.

TensorRT-LLM takes the cache's format from the checkpoint's quantisation file, which says FP8. vLLM
and SGLang document `auto` as the data type of the model, which is bf16 for an FP8 checkpoint too.
"""
_MANY_USERS, _VERY_MANY_USERS = 16, 64


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a run's server was started, beside what its row says."""

    kv_precision: Precision
    engine_options: dict[str, object] = field(default_factory=dict)
    max_batched_tokens: int = MAX_BATCHED_TOKENS
    expert_parallel: int = 1


def recipe_of(run: MeasuredRun) -> Recipe:
    """Return what the scripts set for a run like this, or the engine's own defaults."""
    if run.engine == "trtllm":
        return _trtllm(run)
    if run.engine == "sglang" and "DeepSeek-R1" in run.model:
        return _deepseek_on_sglang(run)
    if run.engine == "vllm":
        return _vllm(run)
    return Recipe(_default_kv(run), expert_parallel=run.expert_parallel)


def _default_kv(run: MeasuredRun) -> Precision:
    return "fp8" if run.weights == "fp8" and run.engine in FP8_KV_ENGINES else "bf16"


def _trtllm(run: MeasuredRun) -> Recipe:
    """Return `70b_fp8_{h200,b200}_trt` and `dsr1_fp8_b200_trt`: both hold prompts back."""
    held: dict[str, object] = {}
    if run.input_tokens == run.output_tokens == 1024:
        if "DeepSeek-R1" in run.model:
            held = dict(HELD_LONGER) if run.concurrency >= _VERY_MANY_USERS else {}
        elif run.tensor_parallel < 8:
            held = dict(HELD)
    return Recipe(_default_kv(run), held, expert_parallel=run.expert_parallel)


def _vllm(run: MeasuredRun) -> Recipe:
    """Return vLLM's scripts: `70b_fp8_{h200,b200}`, `minimaxm2.5_fp8_b200`.

    The first two say `kv-cache-dtype: fp8`. The last switches expert parallelism on for any
    `EP_SIZE` of 1 or more, over all GPUs, and takes 95 % of the memory. Its cache was in FP8,
    which was not read there but follows from the rows: 512 users with 1,024 tokens in and out got
    their first token within 1.4 s on two GPUs, whose memory holds 370 such requests in bf16.
    """
    if "MiniMax-M2.5" in run.model:
        spread = run.tensor_parallel * run.attention_data_parallel
        own: Precision = "fp8" if run.gpu == "b200_sxm" else _default_kv(run)
        return Recipe(own, {"memory_fraction": 0.95}, expert_parallel=spread)
    fp8 = "Llama-3.1-70B" in run.model and run.weights == "fp8" and run.gpu != "h100_sxm"
    kv: Precision = "fp8" if fp8 else "bf16"
    return Recipe(kv, expert_parallel=run.expert_parallel)


def _deepseek_on_sglang(run: MeasuredRun) -> Recipe:
    """Return `dsr1_fp8_{h200,b200}`.

    On B200: `--kv-cache-dtype fp8_e4m3`, `--scheduler-recv-interval` 30 from 16 users on, else 10
    (new requests are looked for once in so many passes); on four GPUs 95 % of the memory.
    """
    wide = run.tensor_parallel == 8
    fraction, tokens = (0.82, 32768) if wide else (0.95, 8192)
    options: dict[str, object] = {"memory_fraction": fraction}
    kv: Precision = "bf16"
    if run.gpu == "b200_sxm":
        kv = "fp8"
        options["pick_up_passes"] = 30 if wide and run.concurrency >= _MANY_USERS else 10
    return Recipe(kv, options, tokens, run.expert_parallel)
