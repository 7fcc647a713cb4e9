"""Why published runs are off by more than 30 %: what was found for each, after the simulation."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason, and the runs that it is named for, by their case or its start."""

    name: str
    text: str
    cases: tuple[str, ...]
    alone: bool = False
    """No further reason is named beside it."""


CAUSES: Final = (
    Cause(
        "older engine",
        "vLLM 0.5.4 (2024): the host of its first engine takes longer than the GPU, and prompts"
        " stop decoding. The presets are of today's engines. The source itself measures twice the"
        " throughput with the version after it.",
        ("lambda",),
    ),
    Cause(
        "no kernel timings",
        "A GPU that nobody's tables time: the universal form stands in, which is optimistic for"
        " AMD's kernels of experts most of all.",
        ("cookbook-llama4", "cookbook-deepseek", "vllm-17530"),
    ),
    Cause(
        "prompts seen before",
        "Prefix caching is on by default, and the same seed sends the same prompts in each round:"
        " the first tokens of a hundred users at once come sooner than the GPUs could read their"
        " prompts at peak (A100: 50,000 tokens of a 70B model in 1.3 s are 5.6 PFLOP/s of 2.5)."
        " The runs do not say what was cached.",
        (
            *("a100-pcie", "cookbook-llama-03", "cookbook-llama-04", "cookbook-llama-05"),
            *("cookbook-llama-06", "cookbook-qwen3-07", "cookbook-qwen3-08", "cookbook-qwen3-09"),
            *("cookbook-glm-07", "cookbook-glm-08", "cookbook-glm-09", "vllm-43232"),
        ),
    ),
    Cause(
        "slow recurrence",
        "Qwen3-Next in SGLang 0.5.6: one prompt of 340 tokens takes 128 ms, and decode waits for"
        " each. Earlier runs of the same model on H200 are met within a quarter.",
        ("cookbook-next", "sglang-18195"),
    ),
    Cause(
        "untuned experts",
        "bf16 experts on eight B200 in SGLang 0.5.6: a pass of one user takes 10 to 15 ms where"
        " the kernels timed with version 0.5.14 need 6.7 to 8. Blocks of these shapes were not"
        " tuned for B200 then, which is likely and not known.",
        ("cookbook-qwen3", "cookbook-glm"),
    ),
    Cause(
        "first requests compile",
        "Times to first tokens hold the compilation of kernels: the mean is a hundred times the"
        " median, or the server was new.",
        ("achatbot-183",),
    ),
    Cause(
        "kernels of one shape",
        "Llama 4 Maverick's experts (one of 128, 8,192 wide): TensorRT-LLM's timings of sixteen of"
        " them on a rank take 3.3 ms under one routing and 0.45 ms under another that reads as"
        " much; the fit is on the slow ones. A defect of the fit, not mended yet.",
        tuple(f"trtllm-docs-{row}" for row in range(66, 80)),
        alone=True,
    ),
    Cause(
        "thousands of sequences",
        "Predicted too fast with 1,000 to 4,000 sequences in flight, the more the smaller the"
        " model: likely TensorRT-LLM's host, which has work for each (sampling, responses), where"
        " the preset, found on runs of up to 64 users, has none; and ranks of data-parallel attention"
        " are taken as evenly full.",
        ("trtllm-docs",),
    ),
    Cause(
        "sampling",
        "Likely top-k and top-p over 151,936 words, which vLLM 0.8 lets PyTorch sort each pass: a"
        " pass of 32 sequences takes 49 ms where weights and cache need 19.",
        ("vllm-17788",),
    ),
    Cause(
        "int4 without timings",
        "Weights in int4 on A100 have no timings; an eager pass starts more kernels than the"
        " compiled one that is counted.",
        ("vllm-20469",),
    ),
    Cause(
        "load of ShareGPT",
        "Lengths of single requests are not told; a hundred short answers a second make prompts"
        " ride in most passes.",
        ("cookbook-gptoss", "vllm-29217"),
    ),
)
OTHER: Final = Cause("unknown", "No reason was found.", ())


def causes_of(case: str) -> tuple[Cause, ...]:
    """Return the reasons that are named for a case."""
    found = [cause for cause in CAUSES if any(_fits(case, start) for start in cause.cases)]
    alone = tuple(cause for cause in found if cause.alone)
    return alone or tuple(found) or (OTHER,)


def _fits(case: str, start: str) -> bool:
    return case == start or case.startswith(f"{start}-")
