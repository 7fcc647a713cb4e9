"""Server scripts of vLLM: most are a line of the table, MiniMax-M2.5 changed over time."""

from typing import Final

from calibration.validate.recipes.recipe import Recipe, Script, of_script
from calibration.validate.runs import MeasuredRun

_B = ("b200_sxm", "b300_sxm")
_NOW = "8eec0d4e"
_LARGEST_GRAPH: Final = 2048
"""`max-cudagraph-capture-size` of the scripts that set it (gpt-oss: 34bc7c40)."""
SCRIPTS: Final = (
    # Two versions for H100 can be read: the first leaves the cache at bf16, one of Oct 2025
    # (70b_fp8_h100_slurm.sh@2a205bb3) says fp8. The runs are older than the second: 64 users with
    # long prompts on two GPUs wait 59 s for room, where a cache in fp8 would hold them all.
    Script("70b_fp8_h100_docker.sh@4e3c32ef", "llama-70b", "fp8", ("h100_sxm",), "bf16"),
    Script("70b_fp8_h200_slurm.sh@409e9a48", "llama-70b", "fp8", ("h200_sxm",), "fp8"),
    Script("70b_fp8_b200_docker.sh@bb4c7f93", "llama-70b", "fp8", ("b200_sxm",), "fp8"),
    Script("70b_fp4_b200_docker.sh@bb4c7f93", "llama-70b", "fp4", ("b200_sxm",), "fp8"),
    # No `kv-cache-dtype` on Hopper; experts in Marlin kernels (VLLM_MXFP4_USE_MARLIN).
    Script(
        f"gptoss_fp4_h100.sh@{_NOW}",
        *("gpt-oss-120b", "fp4", ("h100_sxm",)),
        largest_graph=_LARGEST_GRAPH,
    ),
    Script(
        f"gptoss_fp4_h200.sh@{_NOW}",
        *("gpt-oss-120b", "fp4", ("h200_sxm",)),
        largest_graph=_LARGEST_GRAPH,
    ),
    # VLLM_USE_FLASHINFER_MOE_MXFP4_MXFP8: activations of experts in MXFP8, by the kernels that
    # FlashInfer has of TensorRT-LLM
    Script(
        f"gptoss_fp4_b200.sh@{_NOW}",
        *("gpt-oss-120b", "fp4", ("b200_sxm",), "fp8"),
        mxfp4_experts_of="trtllm",
        largest_graph=_LARGEST_GRAPH,
    ),
    Script(
        f"kimik2.5_int4_{{h200,b200,b300}}.sh@{_NOW}",
        *("kimi-k2.5", "int4", ("h200_sxm", *_B)),
        memory_fraction=0.95,
    ),
    Script(
        f"kimik2.5_fp4_{{b200,b300}}.sh@{_NOW}",
        *("kimi-k2.5", "fp4", _B, "fp8"),
        memory_fraction=0.9,
        prompts_per_pass=2,
        stream_interval_tokens=20,
    ),
    Script(
        f"minimaxm2.5_fp4_{{b200,b300}}.sh@{_NOW}",
        *("minimax-m2.5", "fp4", _B, "fp8"),
        memory_fraction=0.9,
        prompts_per_pass=2,
        stream_interval_tokens=20,
    ),
    # Graphs by pieces (`"cudagraph_mode":"PIECEWISE"`): attention is launched by the host.
    Script(
        f"minimaxm2.5_fp8_h100.sh@{_NOW}",
        *("minimax-m2.5", "fp8", ("h100_sxm",)),
        memory_fraction=0.9,
    ),
)
MINIMAX_CHANGED: Final = "2026-04-03"
"""Pull request 947 of the suite: rows of before were made with the first script of B200."""
_MINIMAX_NOW: Final = Script(
    f"minimaxm2.5_fp8_{{b200,b300}}.sh@{_NOW}",
    *("minimax-m2.5", "fp8", _B, "fp8"),
    memory_fraction=0.9,
    prompts_per_pass=2,
    stream_interval_tokens=20,
    largest_graph=_LARGEST_GRAPH,
)


def vllm(run: MeasuredRun, family: str) -> Recipe | None:
    """Return what a script of vLLM sets for a run; None where none is known."""
    if (family, run.weights) == ("minimax-m2.5", "fp8"):
        if run.gpu == "h200_sxm":
            return _minimax_on_h200(run)
        if run.gpu in _B:
            return _minimax_on_blackwell(run)
    return of_script(SCRIPTS, run, family)


def _minimax_on_blackwell(run: MeasuredRun) -> Recipe:
    """Return `minimaxm2.5_fp8_b200` of the run's time, or that of B300, made of the second.

    At first (07e171a3) experts were spread over all GPUs whatever the label said (`EP_SIZE` of 1
    or more), in Triton's kernels (`VLLM_USE_FLASHINFER_MOE_FP8=0`, `VLLM_MOE_USE_DEEP_GEMM=0`),
    the cache was left at bf16 and the token budget at vLLM's. Since pull requests 947
    (2026-04-03) and 1010 (by 2026-04-08; script at 8eec0d4e) labels mean what they say, vLLM
    chooses the kernels, the cache is in FP8, a pass takes two prompts a rank, graphs hold up to
    2,048 tokens, and the KV pool ends at 90 % of the memory.
    """
    if run.gpu == "b200_sxm" and _before_the_change(run):
        return Recipe(
            "bf16",
            {"memory_fraction": 0.95, "fp8_block_experts_of": "vllm_triton"},
            expert_parallel=run.tensor_parallel,
            script="minimaxm2.5_fp8_b200.sh@07e171a3",
        )
    return _MINIMAX_NOW.recipe(run)


def _before_the_change(run: MeasuredRun) -> bool:
    """Whether a run of MiniMax-M2.5 on B200 was made before pull request 947.

    By its lengths: answers of 8,192 tokens were swept at first only. Or by the date of the row,
    where experts are labelled as not spread: the first sweep named no label (its rows of 8,192
    tokens say 1), so that rows with one are of the request's own runs, before it was merged. A
    table collects runs for weeks, so that a later date does not tell.
    """
    dated = "" < run.measured_on < MINIMAX_CHANGED
    return run.output_tokens == 8192 or (dated and run.expert_parallel == 1)


def _minimax_on_h200(run: MeasuredRun) -> Recipe:
    """Return `minimaxm2.5_fp8_h200` as it was until pull request 1354 (2026-05-12).

    On four GPUs (1c3aa8bf; pull request 831) experts were not spread, on eight (869) they were,
    though labelled 1. The cache was left at bf16 and the token budget at vLLM's. Four GPUs were
    swept with vLLM 0.16.0 alone (831, 2026-03-01; 869 took eight instead on 2026-03-05), which on
    Hopper puts FlashInfer's CUTLASS experts before Triton's whether they are spread or not (log
    in its issue 34249); that Triton's go first where they are not came with pull request 34260 of
    2026-02-10, after that release was branched off.
    """
    wide = run.tensor_parallel == 8
    spread = run.tensor_parallel if wide else run.expert_parallel
    kernels: dict[str, object] = {} if wide else {"fp8_block_experts_of": "trtllm"}
    return Recipe(
        "bf16",
        {"memory_fraction": 0.95} | kernels,
        expert_parallel=spread,
        script="minimaxm2.5_fp8_h200.sh@1c3aa8bf",
    )
