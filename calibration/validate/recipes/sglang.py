"""Server scripts of SGLang. `--scheduler-recv-interval` is how rarely new requests are looked for.

`--chunked-prefill-size` is what a pass of prompts holds.
"""

from typing import Final

from calibration.validate.recipes.recipe import (
    GENERATED,
    Recipe,
    Script,
    default_kv,
    default_tokens,
    of_script,
    streaming,
)
from calibration.validate.runs import MeasuredRun

_B = ("b200_sxm", "b300_sxm")
_NOW = "8eec0d4e"
_MANY_USERS: Final = 16
SCRIPTS: Final = (
    Script(
        f"dsr1_fp4_{{b200,b300}}.sh@{_NOW}",
        *("deepseek-r1", "fp4", _B, "fp8"),
        memory_fraction=0.85,
        max_batched_tokens=16384,
        pick_up_every_passes=10,
        pick_up_every_passes_many=30,
        stream_interval_tokens=10,
    ),
    Script(
        f"dsr1_fp8_h200.sh@{_NOW}",
        *("deepseek-r1", "fp8", ("h200_sxm",), "bf16"),
        memory_fraction=0.82,
        max_batched_tokens=32768,
        stream_interval_tokens=10,
    ),
    Script(
        f"glm5_fp8_{{b200,b300}}.sh@{_NOW}",
        *("glm-5", "fp8", _B, "fp8"),
        memory_fraction=0.85,
        max_batched_tokens=32768,
        stream_interval_tokens=30,
    ),
    Script(
        f"glm5_fp4_{{b200,b300}}.sh@{_NOW}",
        *("glm-5", "fp4", _B, "fp8"),
        memory_fraction=0.9,
        max_batched_tokens=32768,
        pick_up_every_passes=10,
        stream_interval_tokens=30,
    ),
    Script(
        f"glm5_fp8_h200.sh@{_NOW}",
        *("glm-5", "fp8", ("h200_sxm",)),
        memory_fraction=0.85,
    ),
    Script(
        f"qwen3.5_bf16_{{b200,b300}}.sh@{_NOW}",
        *("qwen3.5-397b", "bf16", _B, "bf16"),
        memory_fraction=0.82,
        max_batched_tokens=32768,
        pick_up_every_passes=10,
        pick_up_every_passes_many=30,
        stream_interval_tokens=30,
    ),
    Script(
        f"qwen3.5_fp8_b200.sh@{_NOW}",
        *("qwen3.5-397b", "fp8", ("b200_sxm",), "fp8"),
        memory_fraction=0.8,
        max_batched_tokens=16384,
        pick_up_every_passes=10,
        pick_up_every_passes_many=30,
        many_users=5,
        stream_interval_tokens=50,
    ),
    Script(
        f"qwen3.5_fp4_b200.sh@{_NOW}",
        *("qwen3.5-397b", "fp4", ("b200_sxm",), "fp8"),
        memory_fraction=0.8,
        max_batched_tokens=16384,
        pick_up_every_passes=10,
        pick_up_every_passes_many=30,
        many_users=5,
        stream_interval_tokens=50,
    ),
    Script(
        "qwen3.5_fp8_b300.sh@1534ee26",
        *("qwen3.5-397b", "fp8", ("b300_sxm",), "fp8"),
        memory_fraction=0.8,
        max_batched_tokens=16384,
        pick_up_every_passes=10,
        stream_interval_tokens=50,
    ),
    Script(
        f"qwen3.5_fp4_b300.sh@{_NOW}",
        *("qwen3.5-397b", "fp4", ("b300_sxm",), "fp8"),
        memory_fraction=0.8,
        max_batched_tokens=32768,
        pick_up_every_passes=10,
        pick_up_every_passes_many=30,
        stream_interval_tokens=30,
    ),
    Script(
        f"qwen3.5_fp8_h200.sh@{_NOW}",
        *("qwen3.5-397b", "fp8", ("h200_sxm",), "fp8"),
        memory_fraction=0.8,
        max_batched_tokens=16384,
        stream_interval_tokens=50,
    ),
)


def sglang(run: MeasuredRun, family: str) -> Recipe | None:
    """Return what a script of SGLang sets for a run; None where none is known."""
    if (family, run.weights) == ("deepseek-r1", "fp8") and run.gpu in _B:
        return _deepseek_on_blackwell(run)
    return of_script(SCRIPTS, run, family)


def _deepseek_on_blackwell(run: MeasuredRun) -> Recipe:
    """Return `dsr1_fp8_b200`, which that of B300 repeats.

    `--kv-cache-dtype fp8_e4m3`; on eight GPUs 82 % of the memory and passes of 32,768 tokens, on
    four 95 % and 8,192, so that new requests are looked for every 10 passes at any load.
    All-reduce is FlashInfer's, fused with the norm (`--enable-flashinfer-allreduce-fusion`).
    """
    wide = run.tensor_parallel == 8
    fraction, tokens = (0.82, 32768) if wide else (0.95, 8192)
    passes = 30 if wide and run.concurrency >= _MANY_USERS else 10
    return Recipe(
        "fp8",
        {"memory_fraction": fraction, "pick_up_every_passes": passes, "all_reduce_of": "trtllm"}
        | streaming(30),
        tokens,
        run.expert_parallel,
        script=f"dsr1_fp8_{{b200,b300}}.sh@{_NOW}",
    )


def generated(run: MeasuredRun) -> Recipe:
    """Return what AIConfigurator's generator sets (`rule_plugin/sglang.rule`).

    Prompts ride along with decode passes (`--enable-mixed-chunk`) up to SGLang's own chunk, and
    there is a graph for each batch size. `--max-prefill-tokens` of one prompt and 1,500 tokens is
    left out: it would let in one or two prompts a pass, and rows show passes with more (240 users,
    2,000 tokens in and 100 out: 1.8 prompts for each token that a user gets).
    """
    return Recipe(
        default_kv(run),
        max_batched_tokens=default_tokens(run),
        expert_parallel=run.expert_parallel,
        scheduler={"kind": "chunked_prefill"},
        script=f"{GENERATED}: sglang.rule@1089dfa8",
    )
