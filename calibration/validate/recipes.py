"""What the suites' public server scripts set, where an engine's default is something else.

Scripts: https://github.com/SemiAnalysisAI/InferenceX, `benchmarks/` (at first InferenceMAX). They
are facts of the runs, read there, and not fitted to a row. Scripts change; where a run was made
with another version of one, its row is off, and stays off.
"""

from dataclasses import dataclass, field
from typing import Final

from calibration.validate.rigs import of_inferencex
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
MTP_TABLE: Final = "mtp3-deepseek-r1"
"""Published acceptance of the runs that drafted tokens; nothing in it is from their rows."""
MINIMAX_CHANGED: Final = "2026-04-03"
"""Pull request 947 of the suite: rows of before were made with the first script of B200."""
_MANY_USERS, _VERY_MANY_USERS = 16, 64


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a run's server was started, beside what its row says."""

    kv_precision: Precision
    engine_options: dict[str, object] = field(default_factory=dict)
    max_batched_tokens: int = MAX_BATCHED_TOKENS
    """Token budget of a pass, of all ranks of data-parallel attention together."""
    expert_parallel: int = 1
    decoding: dict[str, object] = field(default_factory=lambda: {"name": "autoregressive"})
    scheduler: dict[str, object] | None = None
    """None: the engine's own."""


def recipe_of(run: MeasuredRun) -> Recipe:
    """Return what the scripts set for a run like this, or the engine's own defaults."""
    if run.engine == "trtllm":
        return _trtllm(run)
    if run.engine == "sglang" and not of_inferencex(run):
        return _generated_for_sglang(run)
    if run.engine == "sglang" and "DeepSeek-R1" in run.model:
        return _deepseek_on_sglang(run)
    if run.engine == "vllm":
        return _vllm(run)
    return Recipe(_default_kv(run), expert_parallel=run.expert_parallel)


def _default_kv(run: MeasuredRun) -> Precision:
    return "fp8" if run.weights == "fp8" and run.engine in FP8_KV_ENGINES else "bf16"


def _trtllm(run: MeasuredRun) -> Recipe:
    """Return `70b_fp8_{h200,b200}_trt`: they hold prompts back."""
    if "DeepSeek-R1" in run.model:
        return _deepseek_on_trtllm(run)
    held: dict[str, object] = {}
    if run.input_tokens == run.output_tokens == 1024 and run.tensor_parallel < 8:
        held = dict(HELD)
    return Recipe(_default_kv(run), held, expert_parallel=run.expert_parallel)


def _deepseek_on_trtllm(run: MeasuredRun) -> Recipe:
    """Return `dsr1_fp8_b200_trt`, or `dsr1_fp8_b200_trt_mtp` where the run drafted tokens.

    The first (8eec0d4e) holds prompts back and leaves the KV cache 80 % of what is free, or 75 %
    for long prompts on four GPUs. Rows with experts spread are older than it.
    """
    drafted = drafted_tokens(run)
    if drafted:
        return _deepseek_with_drafts(run, drafted)
    options: dict[str, object] = {}
    if run.input_tokens == run.output_tokens == 1024 and run.concurrency >= _VERY_MANY_USERS:
        options |= HELD_LONGER
    if run.expert_parallel > 1:
        return Recipe(_default_kv(run), options, expert_parallel=run.expert_parallel)
    long_on_four = run.tensor_parallel == 4 and run.input_tokens == 8192
    options["memory_fraction"] = 0.75 if long_on_four else 0.8
    tokens = max(MAX_BATCHED_TOKENS, _room_for(run.concurrency + run.input_tokens))
    return Recipe("fp8", options, tokens)


def _deepseek_with_drafts(run: MeasuredRun, drafted: int) -> Recipe:
    """Return `dsr1_fp8_b200_trt_mtp` (8eec0d4e), which holds nothing back.

    Its token budget, of each rank, is one prompt and what the sequences decode.
    """
    ranks = run.attention_data_parallel
    decoded = (drafted + 1) * -(-run.concurrency // ranks)
    decoding: dict[str, object] = {"name": "speculative", "drafter": "mtp", "table": MTP_TABLE}
    return Recipe(
        "fp8",
        {"memory_fraction": 0.7 if ranks > 1 else 0.8},
        max_batched_tokens=_room_for(decoded + run.input_tokens) * ranks,
        expert_parallel=run.expert_parallel,
        decoding=decoding | {"draft_tokens": drafted},
    )


def _room_for(tokens: int) -> int:
    """Return `max_num_tokens` as both scripts round it: (tokens + 64 + 63) / 64 * 64."""
    return (tokens + 64 + 63) // 64 * 64


def drafted_tokens(run: MeasuredRun) -> int:
    """Return how many tokens a run of DeepSeek-R1 on TensorRT-LLM is known to have drafted.

    The table does not say; the suite swept the model with and without (`nvidia-master.yaml` at
    0004cf5f: `dsr1-fp8-b200-trt`, `-mtp`). Data-parallel attention with 128 users, and eight GPUs
    with 16, were in the sweep with drafts alone. Those of eight GPUs with 4 and with 64 users were
    in both; without drafts the suite itself measured 8.69 and 20.06 ms a token on 2026-05-18 (pull
    request 3317), 1.6 and 1.4 times what the table has, and longer answers took less still. Runs
    with 8,192 tokens in were in both sweeps, and rows that spread experts over ranks without
    data-parallel attention are older than either: not known, and taken as run without.
    """
    if run.gpu != "b200_sxm" or run.engine != "trtllm" or run.input_tokens != 1024:
        return 0
    if run.attention_data_parallel == 8 and (run.concurrency, run.output_tokens) == (128, 8192):
        return 1
    spread = run.attention_data_parallel * run.expert_parallel
    return 3 if spread == 1 and run.tensor_parallel == 8 and run.concurrency <= 64 else 0


def _vllm(run: MeasuredRun) -> Recipe:
    """Return vLLM's scripts: `70b_fp8_{h200,b200}` say `kv-cache-dtype: fp8`."""
    if "MiniMax-M2.5" in run.model:
        return _minimax_on_h200(run) if run.gpu == "h200_sxm" else _minimax_on_b200(run)
    fp8 = "Llama-3.1-70B" in run.model and run.weights == "fp8" and run.gpu != "h100_sxm"
    kv: Precision = "fp8" if fp8 else "bf16"
    return Recipe(kv, expert_parallel=run.expert_parallel)


def _minimax_on_b200(run: MeasuredRun) -> Recipe:
    """Return `minimaxm2.5_fp8_b200` of the run's time.

    At first (07e171a3) experts were spread over all GPUs whatever the label said (`EP_SIZE` of 1
    or more), the cache was left at bf16 and the token budget at vLLM's. Since pull requests 947
    (2026-04-03) and 1010 (by 2026-04-08; script at 8eec0d4e) labels mean what they say, the cache
    is in FP8, a pass takes two prompts a rank, and the KV pool ends at 90 % of the memory.
    """
    ranks = run.attention_data_parallel
    if _before_the_change(run):
        return Recipe("bf16", {"memory_fraction": 0.95}, expert_parallel=run.tensor_parallel)
    return Recipe(
        "fp8",
        {"memory_fraction": 0.9},
        max_batched_tokens=2 * run.input_tokens * ranks,
        expert_parallel=run.expert_parallel,
    )


def _before_the_change(run: MeasuredRun) -> bool:
    """Whether a run of MiniMax-M2.5 on B200 was made before pull request 947.

    By the date of the row, or by its lengths: answers of 8,192 tokens were swept at first only.
    A table collects runs for weeks, so that a later date does not tell.
    """
    dated = "" < run.measured_on < MINIMAX_CHANGED
    return dated or run.output_tokens == 8192


def _minimax_on_h200(run: MeasuredRun) -> Recipe:
    """Return `minimaxm2.5_fp8_h200` as it was until pull request 1354 (2026-05-12).

    On four GPUs (1c3aa8bf; pull request 831) experts were not spread, on eight (869) they were,
    though labelled 1. The cache was left at bf16 and the token budget at vLLM's.
    """
    spread = run.tensor_parallel if run.tensor_parallel == 8 else run.expert_parallel
    return Recipe("bf16", {"memory_fraction": 0.95}, expert_parallel=spread)


def _deepseek_on_sglang(run: MeasuredRun) -> Recipe:
    """Return `dsr1_fp8_{h200,b200}` (161e7f65, 3b8a2f94) and `dsr1_fp4_b200` (285b6628).

    On H200 answers go out every 10 tokens (`--stream-interval`). On B200 the cache is in FP8
    (`--kv-cache-dtype fp8_e4m3`), all-reduce is FlashInfer's, fused with the norm
    (`--enable-flashinfer-allreduce-fusion`), and new requests are looked for once in 30 decode
    passes from 16 users on, else in 10 (`--scheduler-recv-interval`). On four B200 in FP8 the pool
    ends at 95 % of the memory.
    """
    wide, many = run.tensor_parallel == 8, run.concurrency >= _MANY_USERS
    if run.gpu != "b200_sxm":
        return Recipe(
            "bf16", {"memory_fraction": 0.82, **_streams(10)}, 32768, run.expert_parallel
        )
    options: dict[str, object] = {
        "all_reduce_of": "trtllm",
        "pick_up_every_passes": 30 if many else 10,
    }
    if run.weights == "fp4":
        options |= {"memory_fraction": 0.85, **_streams(10)}
        return Recipe("fp8", options, 16384, run.expert_parallel)
    options["pick_up_every_passes"] = 30 if many and wide else 10
    options |= {"memory_fraction": 0.82 if wide else 0.95, **_streams(30)}
    return Recipe("fp8", options, 32768 if wide else 8192, run.expert_parallel)


def _streams(tokens: int) -> dict[str, object]:
    return {"stream_interval_tokens": tokens}


def _generated_for_sglang(run: MeasuredRun) -> Recipe:
    """Return what AIConfigurator's generator sets (`rule_plugin/sglang.rule` at 1089dfa8).

    Prompts ride along with decode passes (`--enable-mixed-chunk`) up to SGLang's own chunk, and
    there is a graph for each batch size. `--max-prefill-tokens` of one prompt and 1,500 tokens is
    left out: it would let in one or two prompts a pass, and rows show passes with more (240 users,
    2,000 tokens in and 100 out: 1.8 prompts for each token that a user gets).
    """
    return Recipe(
        _default_kv(run),
        max_batched_tokens=MAX_BATCHED_TOKENS,
        expert_parallel=run.expert_parallel,
        scheduler={"kind": "chunked_prefill"},
    )
