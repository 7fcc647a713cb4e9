"""What would be timed on a GPU, without one: formats by generation, cold inputs, memory."""

from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed (the extra `collect`)")

from calibration.collect.cases import HEADS, PRODUCTS, plan
from calibration.collect.device import Device

GENERATIONS = {
    (7, 0): {"fp16"},
    (7, 5): {"fp16", "int8"},
    (8, 0): {"bf16", "int8"},
    (8, 9): {"bf16", "fp8", "int8"},
    (9, 0): {"bf16", "fp8", "int8"},
    (10, 0): {"bf16", "fp8", "int8"},
}


def a_gpu(capability: tuple[int, int], memory_gb: float = 80.0, cache_mb: int = 50) -> Any:
    device: Any = Device.__new__(Device)
    device.kind, device.cuda, device.name = "cuda", True, "NVIDIA H200"
    device.capability, device.cache_bytes = capability, cache_mb << 20
    device.memory_bytes = 0.6e9 * memory_gb
    return device


@pytest.mark.parametrize("capability", GENERATIONS, ids=str)
def test_products_are_timed_in_the_formats_that_a_generation_has(
    capability: tuple[int, int],
) -> None:
    cases = plan(a_gpu(capability), PRODUCTS, HEADS)
    found = {case.precision for case in cases if case.operation == "gemm"}
    assert found == GENERATIONS[capability]


def test_every_operation_comes_early_so_that_a_stop_leaves_a_fair_sample() -> None:
    cases = plan(a_gpu((9, 0)), PRODUCTS, HEADS)
    first = {case.operation for case in cases[:30]}
    assert first == {
        "launch", "launch_captured", "host_launch", "copy", "gemm", "decode_attention",
        "prefill_attention",
    }  # fmt: skip


def test_inputs_outlast_the_cache_and_fit_into_memory() -> None:
    device = a_gpu((9, 0))
    for case in plan(device, PRODUCTS, HEADS):
        sets = device.sets(case.set_bytes)
        assert sets * case.set_bytes <= device.memory_bytes
        if case.operation == "gemm":
            assert sets == 256 or sets * case.set_bytes > 2 * device.cache_bytes


def test_int8_products_have_the_rows_that_its_kernel_takes() -> None:
    cases = plan(a_gpu((9, 0)), PRODUCTS, HEADS)
    rows = [
        case.shape["tokens"]
        for case in cases
        if case.operation == "gemm" and case.precision == "int8"
    ]
    assert min(rows) > 16


def test_there_are_a_few_hundred_kernels_no_more() -> None:
    assert 200 < len(plan(a_gpu((9, 0)), PRODUCTS, HEADS)) < 600


def test_no_kernel_is_timed_twice_whatever_the_shapes_of_a_model_have_in_common() -> None:
    # the widths of a small model, an eighth of them on a CPU, fall together at 128
    small = ((4096, 1024), (1024, 2048), (1024, 2048), (6144, 1024), (1024, 512), (1024, 768))
    for device in (a_gpu((9, 0)), Device("cpu")):
        cases = [(case.operation, case.precision, *sorted(case.shape.items()))
                 for case in plan(device, small, HEADS)]  # fmt: skip
        assert len(cases) == len(set(cases))
