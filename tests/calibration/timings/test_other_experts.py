"""Experts' kernels that an engine has beside those it takes by itself."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibration.timings.aiconfigurator import import_aiconfigurator, wheel

VERSIONS = 'defaults:\n  vllm: {current: "0.24.0", previous: null}\n'
TRITON, CHOSEN = "vllm_fused_moe", "vllm_fp8moe_flashinfer_trtllm_monolithic"


def rows(kernel: str, dtype: str, latency_ms: float) -> dict[str, list[Any]]:
    shape: dict[str, Any] = {"hidden_size": 3072, "inter_size": 1536, "num_experts": 256}
    shape |= {"topk": 8, "moe_tp_size": 2, "moe_ep_size": 1, "distribution": "balanced"}
    shape |= {"kernel_source": kernel, "moe_dtype": dtype, "num_tokens": 8, "latency": latency_ms}
    return {name: [value] for name, value in shape.items()}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "query_versions.yaml").write_text(VERSIONS, encoding="utf-8")
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(wheel, "systems_folder", lambda: tmp_path)
    monkeypatch.setattr(wheel, "_current", lambda _system, _engine: "0.24.0")
    monkeypatch.setattr(
        "calibration.timings.aiconfigurator.tables.systems_folder", lambda: tmp_path
    )
    tables = {
        "0.19.0": rows(TRITON, "fp8_block", 0.12),
        "0.22.0": rows(TRITON, "fp8_block", 0.11),
        "0.24.0": rows(CHOSEN, "fp8_block", 0.09),
    }
    for version, table in tables.items():
        path = tmp_path / "data" / "b200_sxm" / "moe" / "vllm" / version / "moe_perf.parquet"
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table(table), path)
    return tmp_path


@pytest.mark.usefixtures("root")
def test_the_newest_version_that_timed_the_kernel_is_read() -> None:
    found = import_aiconfigurator(["b200_sxm"], ["vllm_triton"]).where(engine="vllm_triton")
    assert found.texts("engine_version") == ("0.22.0",)
    assert found.texts("kernel") == (TRITON,)
    assert found.number("latency_s").tolist() == pytest.approx([1.1e-4])


@pytest.mark.usefixtures("root")
def test_it_is_not_among_the_kernels_that_the_engine_takes() -> None:
    found = import_aiconfigurator(["b200_sxm"])
    assert found.texts("kernel") == (CHOSEN,)
    assert found.texts("engine") == ("vllm",)
