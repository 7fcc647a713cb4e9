"""Server scripts of TensorRT-LLM, which compute what they set; some runs drafted tokens."""

from typing import Final

from calibration.validate.recipes.recipe import (
    MAX_BATCHED_TOKENS,
    Recipe,
    Script,
    of_script,
    streaming,
)
from calibration.validate.runs import MeasuredRun

_NOW = "8eec0d4e"
LLAMA_TOKENS: Final = 16384
"""`--max_num_tokens` of Llama-70B's scripts."""
HELD: Final = {"hold_passes": 20, "hold_token_share": 0.9}
"""`batch_wait_timeout_iters: 20` and `batch_wait_max_tokens_ratio: 0.9` of TensorRT-LLM.

Llama-70B's scripts set them for 1,024 tokens in and out on fewer than eight GPUs.
"""
HELD_LONGER: Final = {"hold_passes": 40, "hold_token_share": 0.8}
"""The same in the scripts of DeepSeek-R1, from 64 users on."""
MTP_TABLE: Final = "mtp3-deepseek-r1"
"""Published acceptance of the runs that drafted tokens; nothing in it is from their rows."""
_VERY_MANY_USERS: Final = 64
SCRIPTS: Final = (
    Script(
        "single_node/gptoss_fp4_b200_trt.sh@34bc7c40",
        *("gpt-oss-120b", "fp4", ("b200_sxm",), "fp8"),
        memory_fraction=0.85,
        max_batched_tokens=20000,
        stream_interval_tokens=20,
    ),
    Script(
        f"gptoss_fp4_h200_trt.sh@{_NOW}",
        *("gpt-oss-120b", "fp4", ("h200_sxm",), "bf16"),
        memory_fraction=0.85,
        max_batched_tokens=20000,
        stream_interval_tokens=20,
    ),
)


def trtllm(run: MeasuredRun, family: str) -> Recipe | None:
    """Return what a script of TensorRT-LLM sets for a run; None where none is known."""
    if family == "llama-70b":
        return _llama(run)
    if family == "deepseek-r1":
        return _deepseek(run)
    return of_script(SCRIPTS, run, family)


def _llama(run: MeasuredRun) -> Recipe | None:
    """Return `70b_fp8_{h200,b200}_trt` (a267b4bd) or `70b_fp4_b200_trt` (73ef9225).

    They hold prompts back, to batch them, where prompts and answers are short.
    """
    gpus = {"fp8": ("h200_sxm", "b200_sxm"), "fp4": ("b200_sxm",), "nvfp4": ("b200_sxm",)}
    if run.gpu not in gpus.get(run.weights, ()):
        return None
    held = run.input_tokens == run.output_tokens and run.tensor_parallel < 8
    name = "70b_fp8_{h200,b200}_trt_slurm.sh@a267b4bd"
    return Recipe(
        "fp8",
        (HELD if held else {}) | streaming(10),
        LLAMA_TOKENS,
        script=name if run.weights == "fp8" else "70b_fp4_b200_trt_slurm.sh@73ef9225",
    )


def _deepseek(run: MeasuredRun) -> Recipe | None:
    """Return the script of DeepSeek-R1 for a run's GPU and precision."""
    label = "fp4" if run.weights == "nvfp4" else run.weights
    if (label, run.gpu) == ("fp8", "b200_sxm"):
        return _fp8_on_b200(run)
    if (label, run.gpu) == ("fp4", "b200_sxm"):
        return _plain(run, 0.8, f"dsr1_fp4_b200_trt.sh@{_NOW}")
    if (label, run.gpu) == ("fp8", "h200_sxm"):
        drafted = drafted_tokens(run)
        if drafted:
            return _with_drafts(run, drafted, 0.75)
        return _plain(run, 0.75, f"dsr1_fp8_h200_trt.sh@{_NOW}")
    return None


def _plain(run: MeasuredRun, memory_fraction: float, script: str) -> Recipe:
    """Return a script that holds nothing back; a rank's budget is 8,192 tokens or a prompt."""
    tokens = max(MAX_BATCHED_TOKENS, _room_for(run.concurrency + run.input_tokens))
    return Recipe(
        "fp8",
        {"memory_fraction": memory_fraction} | streaming(10),
        tokens * run.attention_data_parallel,
        run.expert_parallel,
        script=script,
    )


def _fp8_on_b200(run: MeasuredRun) -> Recipe:
    """Return the script of DeepSeek-R1 in FP8 on B200 that a run's parallelism and load tell.

    Experts were spread in the first sweeps alone; since then they are where attention is split
    over ranks, with drafts.
    """
    drafted = drafted_tokens(run)
    if drafted and run.expert_parallel > 1 and run.attention_data_parallel == 1:
        return _first_with_drafts(run, drafted)
    if drafted:
        return _with_drafts(run, drafted, 0.7 if run.attention_data_parallel > 1 else 0.8)
    if run.expert_parallel > 1:
        return _first_on_b200(run)
    options: dict[str, object] = streaming(10)
    if run.input_tokens == run.output_tokens == 1024 and run.concurrency >= _VERY_MANY_USERS:
        options |= HELD_LONGER
    long_on_four = run.tensor_parallel == 4 and run.input_tokens == 8192
    options["memory_fraction"] = 0.75 if long_on_four else 0.8
    tokens = max(MAX_BATCHED_TOKENS, _room_for(run.concurrency + run.input_tokens))
    return Recipe("fp8", options, tokens, script=f"dsr1_fp8_b200_trt.sh@{_NOW}")


def _first_on_b200(run: MeasuredRun) -> Recipe:
    """Return `dsr1_fp8_b200_trt_slurm` (2e46dba0): one prompt a pass, experts by DeepGEMM."""
    return Recipe(
        "fp8",
        {"memory_fraction": 0.8} | streaming(10),
        _room_for(run.concurrency + run.input_tokens) * run.attention_data_parallel,
        run.expert_parallel,
        script="dsr1_fp8_b200_trt_slurm.sh@2e46dba0",
    )


def _first_with_drafts(run: MeasuredRun, drafted: int) -> Recipe:
    """Return `dsr1_fp8_b200_trt_mtp_slurm` (40be3a4b), with room for 1.8 prompts a pass.

    It takes the share that lengths spread over for what they may be longer.
    """
    longest = round(run.input_tokens * 1.8)
    return Recipe(
        "fp8",
        {"memory_fraction": 0.8} | streaming(10),
        _room_for((drafted + 1) * run.concurrency + longest),
        run.expert_parallel,
        decoding=_drafting(drafted),
        script="dsr1_fp8_b200_trt_mtp_slurm.sh@40be3a4b",
    )


def _drafting(drafted: int) -> dict[str, object]:
    return {
        "name": "speculative",
        "drafter": "mtp",
        "table": MTP_TABLE,
        "draft_tokens": drafted,
    }


def _with_drafts(run: MeasuredRun, drafted: int, memory_fraction: float) -> Recipe:
    """Return `dsr1_fp8_{b200,h200}_trt_mtp` (8eec0d4e), which hold nothing back.

    Their token budget, of each rank, is one prompt and what the sequences decode.
    """
    ranks = run.attention_data_parallel
    decoded = (drafted + 1) * -(-run.concurrency // ranks)
    return Recipe(
        "fp8",
        {"memory_fraction": memory_fraction},
        max_batched_tokens=_room_for(decoded + run.input_tokens) * ranks,
        expert_parallel=run.expert_parallel,
        decoding=_drafting(drafted),
        script=f"dsr1_fp8_{run.gpu.removesuffix('_sxm')}_trt_mtp.sh@{_NOW}",
    )


def _room_for(tokens: int) -> int:
    """Return `max_num_tokens` as the scripts round it: (tokens + 64 + 63) / 64 * 64."""
    return (tokens + 64 + 63) // 64 * 64


def drafted_tokens(run: MeasuredRun) -> int:
    """Return how many tokens a run of DeepSeek-R1 in FP8 is taken to have drafted.

    The table does not say; the suite swept the model with and without (`nvidia-master.yaml`,
    `dsr1-fp8-b200-trt` and `-mtp`, at 525079ad, early in 2026, and at 0004cf5f). In the sweeps
    with drafts alone were: ranks of attention with 128 users or with long prompts; eight GPUs
    with 16 users, experts not spread. Those of eight GPUs with 4 and with 64 users were in both;
    without drafts the suite itself measured 8.69 and 20.06 ms a token on 2026-05-18 (pull request
    3317), 1.6 and 1.4 times what the table has, and longer answers took less still. Those that
    spread experts without ranks were in both, too; with short prompts they take 6.8 to 7.8 ms a
    token for 4 users, which no pass without drafts can: all but the experts is 5.4 ms of a
    simulated pass (the whole of which is 8.6 for the suite's 8.69), and in the wheel's table
    DeepGEMM needs 5.2 ms for the experts. Long prompts on eight GPUs were in both, with the same
    loads: not known, and taken as run without. On H200 more than 64 users were swept with drafts
    alone (525079ad and 15843cbf).
    """
    if run.engine != "trtllm" or run.gpu not in {"b200_sxm", "h200_sxm"}:
        return 0
    if run.gpu == "h200_sxm":
        return (1 if run.attention_data_parallel > 1 else 3) if run.concurrency > 64 else 0
    long = run.input_tokens == 8192
    if run.attention_data_parallel == 8:
        return 1 if long or run.concurrency == 128 else 0
    eight = run.attention_data_parallel == 1 and run.tensor_parallel == 8
    return 3 if eight and not long and run.concurrency <= 64 else 0
