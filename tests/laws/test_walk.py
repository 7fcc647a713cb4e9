"""A walk over GPUs, engines and formats: what makes no sense is a wrong row of a table.

Rows of kernels that no server runs cost a factor, and no measured run shows it where none was
published for that GPU, engine and format. Tolerances are the stated errors of the fits on both
sides; what the tables really say stands in `KNOWN`, each with its reason.
"""

from collections.abc import Callable, Iterable
from itertools import permutations

import pytest

from tests.laws.loads import Layout, allowed_layouts
from tests.laws.walk import (
    BITS,
    DECODING,
    ENGINES,
    GPUS,
    LOADS,
    NEWER,
    Load,
    Place,
    Slower,
    slower,
)

pytestmark = pytest.mark.laws
TWICE = 2.0
"""What the kernel of one engine may take of another's."""
SM100 = ("b200_sxm", "b300_sxm", "gb200", "gb300")
PCIE = ("l40s", "rtx_pro_6000")
Known = tuple[float, Callable[[Slower], bool]]
"""How many times as long it may take, and what tells such a case."""


def cards_on_pcie(one: Slower) -> bool:
    """Kernels differ from engine to engine.

    TensorRT-LLM decodes over a cache in FP8 without splitting contexts, SGLang's FP8 products of
    few rows are slow on RTX PRO 6000, and L40S holds small weights in its L2 cache.
    """
    return {one.quick.gpu, one.slow.gpu} <= set(PCIE)


def four_bit_integers(one: Slower) -> bool:
    """INT4 experts were timed of Kimi K2 alone; those of other models go by their neighbours."""
    return "int4" in {one.quick.weights, one.slow.weights} and one.group == "experts"


def vllm_for_tensorrt_llm(one: Slower) -> bool:
    """B300 has no rows of TensorRT-LLM's generated kernels; vLLM's take 1.4 times as long."""
    same = one.quick.engine == one.slow.engine == "trtllm" and one.load[1] > 0
    return same and one.group == "experts" and one.quick.weights == "nvfp4"


def sixteen_bit_activations(one: Slower) -> bool:
    """VLLM multiplies MXFP4 experts so on Blackwell where it is not told otherwise."""
    mxfp4 = one.quick.model.startswith("gpt-oss") and one.group == "experts"
    return mxfp4 and one.quick.engine == "vllm" != one.slow.engine and one.quick.gpu in SM100


def wide_experts(one: Slower) -> bool:
    """Wide experts are tuned by some engines only.

    SGLang has no Triton configuration for them in 16 bits on Blackwell (1.5 to 4.6 times as long),
    and of TensorRT-LLM's tables those of both Hopper GPUs hold untuned ones of Llama 4 Scout on
    one GPU, so that no sister tells (4 to 8 times). vLLM's NVFP4 ones for B300: 2 times.
    """
    wide = one.quick.model.startswith(("llama-4", "mixtral")) and one.group == "experts"
    return wide and (
        one.quick.weights in {"bf16", "checkpoint"} or one.quick.layout == (1, 1, 1, 1)
    )


def tables_of_a100(one: Slower) -> bool:
    """They are of 2025's engines, some of untuned experts: engines differ by up to 4 times."""
    return one.group == "experts" and one.quick.gpu == one.slow.gpu == "a100_sxm_80gb"


def blocks_of_vllm(one: Slower) -> bool:
    """TensorRT-LLM has no usable rows in blocks of FP8 on Blackwell: vLLM's stand in.

    One token over eight ranks is a matter of their fixed times.
    """
    engine = one.quick.engine == one.slow.engine == "trtllm" and one.quick.gpu in SM100
    return engine and one.group == "experts" and one.load == (1, 0)


KNOWN: tuple[Known, ...] = (
    (40.0, cards_on_pcie),
    (4.0, four_bit_integers),
    (1.6, vllm_for_tensorrt_llm),
    (8.0, sixteen_bit_activations),
    (8.0, wide_experts),
    (4.0, tables_of_a100),
    (1.8, blocks_of_vllm),
)


def check(pairs: Iterable[tuple[Place, Place]], most: float, loads: tuple[Load, ...]) -> None:
    """Assert that no first place of a pair is slower than its second, but for what is known."""
    found = [
        str(one)
        for quick, slow in pairs
        for one in slower(quick, slow, most, loads)
        if not any(one.ratio <= most_known and tells(one) for most_known, tells in KNOWN)
    ]
    assert not found, "\n".join(found)


def newer(kind: tuple[str, Layout, str, str], gpus: Iterable[str]) -> list[tuple[Place, Place]]:
    """Return a newer GPU and the one before, under each engine."""
    model, layout, weights, kv = kind
    chosen = set(gpus)
    return [
        (
            Place(model, layout, new, engine, weights, kv),
            Place(model, layout, old, engine, weights, kv),
        )
        for old, new in NEWER
        for engine in ENGINES
        if {old, new} <= chosen
    ]


def engines(kind: tuple[str, Layout, str, str], gpus: Iterable[str]) -> list[tuple[Place, Place]]:
    """Return two engines on each GPU, both ways."""
    model, layout, weights, kv = kind
    return [
        (
            Place(model, layout, gpu, one, weights, kv),
            Place(model, layout, gpu, other, weights, kv),
        )
        for gpu in gpus
        for one, other in permutations(ENGINES, 2)
    ]


def fewer_bits(model: str, layout: Layout, gpus: Iterable[str]) -> list[tuple[Place, Place]]:
    """Return a format with fewer bits and one with more."""
    pairs = [
        (Place(model, layout, gpu, engine, less), Place(model, layout, gpu, engine, more))
        for gpu in gpus
        for engine in ENGINES
        for more, less in BITS
    ]
    return [(less, more) for less, more in pairs if less.uniform and more.uniform]


EIGHT: Layout = (8, 1, 1, 1)
FEW = ("h100_sxm", "h200_sxm", "b200_sxm", "b300_sxm")
SOME: tuple[Load, ...] = ((8, 0), (64, 0), (0, 2048))


@pytest.mark.parametrize(
    "kind",
    [
        ("gpt-oss-120b", (1, 1, 1, 1), "checkpoint", "bf16"),
        ("deepseek-v3", EIGHT, "checkpoint", "fp8"),
        ("deepseek-v3", EIGHT, "nvfp4", "fp8"),
        ("llama-4-scout", (4, 1, 4, 1), "fp8", "bf16"),
    ],
    ids=lambda kind: f"{kind[0]}-{kind[2]}",
)
def test_no_newer_gpu_is_slower_and_no_engine_takes_twice_as_long(
    kind: tuple[str, Layout, str, str],
) -> None:
    check(newer(kind, FEW), 1.0, SOME)
    check(engines(kind, FEW), TWICE, SOME)


MODELS = ("llama-3.1-70b", "gpt-oss-120b", "deepseek-v3", "qwen3-235b-a22b", "mixtral-8x7b")
"""Of Llama 4 Scout too many single shapes were not tuned (one token of one active expert)."""
LAYOUTS: tuple[Layout, ...] = ((1, 1, 1, 1), EIGHT, (8, 1, 8, 1))

FORMATS = (("checkpoint", "fp8"), ("bf16", "bf16"), ("fp8", "bf16"), ("nvfp4", "fp8"))


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_the_whole_walk_makes_sense(model: str) -> None:
    for layout in LAYOUTS:
        if layout not in allowed_layouts(model):
            continue
        for weights, kv in FORMATS:
            kind = model, layout, weights, kv
            check(newer(kind, GPUS), 1.0, LOADS)
            check(engines(kind, GPUS), TWICE, LOADS)
        check(fewer_bits(model, layout, GPUS), 1.0, DECODING)
