"""Rows of kernels that no server runs, and timings that no sister GPU confirms, are left out."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibration.timings.aiconfigurator import wheel
from calibration.timings.aiconfigurator.served import experts_served, latent_served
from calibration.timings.aiconfigurator.sisters import SISTERS, confirmed
from calibration.timings.aiconfigurator.wheel import Rows
from sim.hardware import load_gpu


def _experts(*rows: tuple[str, str]) -> dict[str, Any]:
    formats, kernels = zip(*rows, strict=True)
    return {
        "moe_dtype": np.array(formats, dtype=object),
        "kernel_source": np.array(kernels, dtype=object),
    }


@pytest.mark.parametrize(
    ("gpu", "engine", "kept"),
    [
        ("b200_sxm", "sglang", "w4a8_mxfp4_mxfp8"),  # flashinfer_mxfp4 at its default
        ("gb300", "sglang", "w4a8_mxfp4_mxfp8"),
        ("rtx_pro_6000", "sglang", "w4a16_mxfp4"),  # compute capability 12
        ("h200_sxm", "sglang", "w4a16_mxfp4"),
        ("rtx_pro_6000", "trtllm", "w4a8_mxfp4_mxfp8"),
        ("b200_sxm", "vllm", "w4a16_mxfp4"),
    ],
)
def test_mxfp4_experts_have_the_activations_of_the_engines_default(
    gpu: str, engine: str, kept: str
) -> None:
    columns = _experts(("w4a16_mxfp4", "one"), ("w4a8_mxfp4_mxfp8", "one"))
    assert columns["moe_dtype"][experts_served(columns, gpu, engine)].tolist() == [kept]


def test_experts_unpacked_when_they_are_loaded_are_no_mxfp4() -> None:
    rows = ("w4a16_mxfp4", "sglang_fused_moe_triton"), ("w4a16_mxfp4", "sglang_marlin_moe")
    columns = _experts(*rows, ("bfloat16", "sglang_fused_moe_triton"))
    assert experts_served(columns, "h100_sxm", "sglang").tolist() == [False, False, True]
    alone = _experts(rows[1])
    assert experts_served(alone, "rtx_pro_6000", "sglang").tolist() == [True]


def test_nvfp4_experts_of_tensorrt_llm_are_the_generated_kernels() -> None:
    cutlass, generated = "moe_torch_flow_cutlass", "moe_torch_flow_min_latency"
    both = _experts(("nvfp4", cutlass), ("nvfp4", generated), ("fp8", cutlass))
    assert experts_served(both, "b200_sxm", "trtllm").tolist() == [False, True, True]
    alone = _experts(("nvfp4", cutlass), ("nvfp4", "moe_torch_flow_nongated"), ("fp8", cutlass))
    assert experts_served(alone, "b300_sxm", "trtllm").tolist() == [False, False, True]
    assert experts_served(alone, "rtx_pro_6000", "trtllm").all()  # no such kernels there


def test_cutlass_experts_on_hopper_are_left_out() -> None:
    rows = ("bfloat16", "sglang_flashinfer_cutlass_moe"), ("bfloat16", "sglang_fused_moe_triton")
    columns = _experts(*rows)
    assert experts_served(columns, "h100_sxm", "sglang").tolist() == [False, True]
    assert experts_served(columns, "rtx_pro_6000", "sglang").all()


def test_a_latent_cache_in_fp8_that_is_converted_first_is_left_out() -> None:
    columns = {
        "kernel_source": np.array(["flash_attention", "flash_attention", "trtllm_mla"]),
        "kv_cache_dtype": np.array(["bfloat16", "fp8", "fp8"]),
    }
    assert latent_served(columns).tolist() == [True, False, True]


def _table(latency: list[float], experts: list[int]) -> dict[str, Any]:
    n = len(latency)
    same = {"hidden_size": 4096, "inter_size": 1024, "topk": 8, "moe_tp_size": 1, "moe_ep_size": 1}
    return {
        "moe_dtype": ["fp8"] * n,
        "kernel_source": ["cutlass"] * n,
        "distribution": ["balanced"] * n,
        "num_experts": experts,
        "num_tokens": [1, 8, 64] * (n // 3),
        "latency": latency,
        **{name: [value] * n for name, value in same.items()},
    }


def _confirmed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, gpu: str, tables: dict[str, dict[str, Any]]
) -> list[bool]:
    for name, table in tables.items():
        path = folder / "data" / name / "moe" / "trtllm" / "1.0" / "moe_perf.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table(table), path)
    versions = "defaults:\n  trtllm: {current: '1.0', previous: null}\n"
    (folder / "query_versions.yaml").write_text(versions, encoding="utf-8")
    wheel._current.cache_clear()
    monkeypatch.setattr(wheel, "systems_folder", lambda: folder)
    rows = wheel.read_rows(gpu, "moe", "trtllm", "moe_perf")
    wheel._current.cache_clear()
    assert rows is not None
    return confirmed(rows, gpu).tolist()


def test_a_shape_that_takes_twice_as_long_as_on_a_sister_was_not_tuned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = _table([1.0, 2.0, 3.0] * 2, [64] * 3 + [128] * 3)
    failed = _table([1.0, 2.1, 2.9, 2.1, 4.1, 5.2], [64] * 3 + [128] * 3)
    slip = _table([1.0, 2.0, 3.0, 1.0, 6.0, 3.0], [64] * 3 + [128] * 3)
    tables = {"b200_sxm": failed, "b300_sxm": good, "gb200": slip}
    assert _confirmed(tmp_path, monkeypatch, "b200_sxm", tables) == [True] * 3 + [False] * 3


def test_a_single_slip_is_left_out_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = _table([1.0, 2.0, 3.0], [64] * 3)
    slip = _table([1.1, 6.0, 3.0], [64] * 3)
    tables = {"b200_sxm": slip, "b300_sxm": good}
    assert _confirmed(tmp_path, monkeypatch, "b200_sxm", tables) == [True, False, True]


def test_a_gpu_with_less_bandwidth_may_take_longer_by_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 4.8 over 3.35 TB/s is 1.43: twice as long is 1.4 times what it may be, three times 2.1
    quick, twice = _table([1.0, 2.0, 3.0], [64] * 3), _table([2.0, 4.0, 6.0], [64] * 3)
    assert (
        _confirmed(tmp_path, monkeypatch, "h100_sxm", {"h100_sxm": twice, "h200_sxm": quick})
        == [True] * 3
    )


def test_without_a_sister_all_timings_stand() -> None:
    columns = {name: np.array(values) for name, values in _table([1.0] * 3, [64] * 3).items()}
    assert confirmed(Rows(columns, "trtllm", "1.0", "made up"), "l40s").all()


def test_sisters_are_of_one_compute_capability() -> None:
    for gpu, others in SISTERS.items():
        own = load_gpu(gpu).bf16_dense_flop_per_s.value
        for other in others:
            assert load_gpu(other).bf16_dense_flop_per_s.value == pytest.approx(own, rel=0.15)
