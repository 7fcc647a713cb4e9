"""Which MXFP4 experts are read: those that the engine runs by default on the GPU."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibration.timings.aiconfigurator import import_aiconfigurator, wheel
from sim.hardware import load_fitted_named

VERSIONS = """\
defaults:
  vllm: {current: "0.24.0", previous: null}
  sglang: {current: "0.5.14", previous: null}
  trtllm: {current: "1.3.0rc20", previous: null}
"""
ROWS: dict[str, list[Any]] = {
    "kernel_source": ["flow", "flow"],
    "moe_dtype": ["w4a16_mxfp4", "w4a8_mxfp4_mxfp8"],
    "num_tokens": [16, 16],
    "hidden_size": [2880, 2880],
    "inter_size": [2880, 2880],
    "topk": [4, 4],
    "num_experts": [128, 128],
    "moe_tp_size": [1, 1],
    "moe_ep_size": [1, 1],
    "distribution": ["power_law_1.2", "power_law_1.2"],
    "latency": [0.424, 0.110],
}


@pytest.mark.parametrize(
    ("gpu", "engine", "kernel", "latency_s"),
    [
        ("b200_sxm", "trtllm", "flow_mxfp8", 0.110e-3),  # compute capability 10
        ("h200_sxm", "trtllm", "flow", 0.424e-3),  # 9: weights are unpacked
        ("b200_sxm", "sglang", "flow", 0.424e-3),
        ("b200_sxm", "vllm", "flow", 0.424e-3),  # only where it is told to
    ],
)
def test_mxfp4_experts_are_those_that_the_engine_runs_on_the_gpu(  # noqa: PLR0917  # pytest names them
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    gpu: str,
    engine: str,
    kernel: str,
    latency_s: float,
) -> None:
    version = {"trtllm": "1.3.0rc20", "vllm": "0.24.0", "sglang": "0.5.14"}[engine]
    (tmp_path / "query_versions.yaml").write_text(VERSIONS, encoding="utf-8")
    path = tmp_path / "data" / gpu / "moe" / engine / version / "moe_perf.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table(ROWS), path)
    wheel._current.cache_clear()
    monkeypatch.setattr(wheel, "systems_folder", lambda: tmp_path)
    monkeypatch.setattr(
        "calibration.timings.aiconfigurator.tables.systems_folder", lambda: tmp_path
    )
    (row,) = import_aiconfigurator([gpu]).where(operation="experts").table.to_pylist()
    wheel._current.cache_clear()
    assert (row["precision"], row["kernel"]) == ("mxfp4", kernel)
    assert row["latency_s"] == pytest.approx(latency_s)


def test_sglang_runs_another_kernel_on_hopper_than_the_wheel_has_so_that_vllms_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data" / "h100_sxm" / "moe" / "sglang" / "0.5.14" / "moe_perf.parquet"
    (tmp_path / "query_versions.yaml").write_text(VERSIONS, encoding="utf-8")
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table(ROWS | {"moe_dtype": ["w4a16_mxfp4", "bfloat16"]}), path)
    wheel._current.cache_clear()
    monkeypatch.setattr(wheel, "systems_folder", lambda: tmp_path)
    monkeypatch.setattr(
        "calibration.timings.aiconfigurator.tables.systems_folder", lambda: tmp_path
    )
    read = import_aiconfigurator(["h100_sxm"]).where(operation="experts")
    wheel._current.cache_clear()
    assert read.table["precision"].to_pylist() == ["bf16"]
    shipped = [
        load_fitted_named(f"{gpu}__{engine}").experts["mxfp4"]
        for gpu in ("h100_sxm", "h200_sxm")
        for engine in ("sglang", "vllm")
    ]
    assert shipped[0] == shipped[1]
    assert shipped[2] == shipped[3]
