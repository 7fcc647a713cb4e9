"""The importer of the public wheel, on small tables of the same form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calibration.timings.aiconfigurator import import_aiconfigurator, installed, wheel
from sim.errors import InputError, UnknownNameError

VERSIONS = """\
defaults:
  vllm: {current: "0.24.0", previous: null}
  sglang: {current: "0.5.14", previous: null}
  trtllm: {current: "1.3.0rc20", previous: null}
"""


def put(root: Path, place: str, rows: dict[str, Any]) -> None:
    path = root / "data" / f"{place}.parquet"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(rows), path)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "query_versions.yaml").write_text(VERSIONS, encoding="utf-8")
    (tmp_path / "data").mkdir()
    wheel._current.cache_clear()
    monkeypatch.setattr(wheel, "systems_folder", lambda: tmp_path)
    monkeypatch.setattr(
        "calibration.timings.aiconfigurator.tables.systems_folder", lambda: tmp_path
    )
    yield tmp_path
    wheel._current.cache_clear()


def gemm_rows(dtype: str, m: list[int], latency_ms: list[float]) -> dict[str, list[Any]]:
    count = len(m)
    return {
        "kernel_source": ["k"] * count,
        "gemm_dtype": [dtype] * count,
        "m": m,
        "n": [4096] * count,
        "k": [8192] * count,
        "latency": latency_ms,
    }


def test_milliseconds_become_seconds(root: Path) -> None:
    put(root, "h200_sxm/gemm/vllm/0.24.0/gemm_perf", gemm_rows("bfloat16", [1, 8], [0.02, 0.03]))
    found = import_aiconfigurator(["h200_sxm"], ["vllm"])
    assert found.number("latency_s").tolist() == pytest.approx([2e-5, 3e-5])
    assert found.texts("precision") == ("bf16",)
    assert found.texts("engine_version") == ("0.24.0",)
    assert "h200_sxm/gemm/vllm/0.24.0" in found.texts("source")[0]


def test_vllm_products_by_blocks_are_left_out_since_they_hold_host_time(root: Path) -> None:
    for engine, version in (("vllm", "0.24.0"), ("sglang", "0.5.14")):
        rows = gemm_rows("fp8_block", [1], [0.06])
        put(root, f"h200_sxm/gemm/{engine}/{version}/gemm_perf", rows)
    assert import_aiconfigurator(["h200_sxm"]).texts("engine") == ("sglang",)


def test_bimodal_fp8_products_are_cut_to_the_quickest_of_any_larger_m(root: Path) -> None:
    rows = gemm_rows("fp8", [64, 65, 96, 128], [0.0136, 0.0342, 0.0140, 0.0150])
    put(root, "b200_sxm/gemm/vllm/0.24.0/gemm_perf", rows)
    put(root, "h200_sxm/gemm/vllm/0.24.0/gemm_perf", rows)
    cut = import_aiconfigurator(["b200_sxm"]).number("latency_s")
    assert cut.tolist() == pytest.approx([1.36e-5, 1.40e-5, 1.40e-5, 1.50e-5])
    assert import_aiconfigurator(["h200_sxm"]).number("latency_s")[1] == pytest.approx(3.42e-5)


def test_the_context_of_decode_is_the_history_and_the_new_token(root: Path) -> None:
    rows: dict[str, Any] = {
        "kernel_source": ["fa"],
        "batch_size": [16],
        "isl": [1],
        "num_heads": [32],
        "num_key_value_heads": [8],
        "head_dim": [128],
        "attn_dtype": ["bfloat16"],
        "kv_cache_dtype": ["fp8"],
        "step": [4095],
        "window_size": [0],
        "latency": [0.05],
    }
    put(root, "h200_sxm/attention/vllm/0.24.0/generation_attention_perf", rows)
    found = import_aiconfigurator(["h200_sxm"])
    assert found.number("context_tokens").tolist() == [4096]
    assert found.number("query_tokens").tolist() == [1]
    assert found.table["window_tokens"].null_count == 1
    assert found.texts("kv_precision") == ("fp8",)


def test_messages_are_counted_in_elements_and_eager_rows_are_left_out(root: Path) -> None:
    rows: dict[str, Any] = {
        "kernel_source": ["vLLM_custom_eager", "vLLM_custom_graph"],
        "allreduce_dtype": ["bfloat16", "bfloat16"],
        "num_gpus": [8, 8],
        "message_size": [1024, 1024],
        "backend": ["vllm_eager", "vllm_graph"],
        "latency": [0.0214, 0.0048],
    }
    put(root, "h200_sxm/comm/vllm/0.24.0/custom_allreduce_perf", rows)
    found = import_aiconfigurator(["h200_sxm"], ["vllm"])
    assert found.number("message_bytes").tolist() == [2048]
    assert found.number("latency_s").tolist() == pytest.approx([4.8e-6])


def test_modules_of_latent_attention_are_not_taken_for_kernels(root: Path) -> None:
    rows: dict[str, Any] = {
        "kernel_source": ["fa"],
        "mla_dtype": ["bfloat16"],
        "kv_cache_dtype": ["bfloat16"],
        "num_heads": [16],
        "batch_size": [8],
        "isl": [1],
        "step": [1023],
        "latency": [0.02],
    }
    for engine, version in (("vllm", "0.24.0"), ("sglang", "0.5.14")):
        put(root, f"h200_sxm/mla/{engine}/{version}/generation_mla_perf", rows)
    found = import_aiconfigurator(["h200_sxm"])
    assert found.texts("engine") == ("sglang",)
    assert found.number("head_dim").tolist() == [576]
    assert found.number("value_dim").tolist() == [512]


def test_the_current_version_is_read_and_else_the_newest_before_it(root: Path) -> None:
    for version, latency in (("0.5.6.post2", 0.01), ("0.5.9", 0.02), ("0.5.16", 0.03)):
        rows = gemm_rows("bfloat16", [1], [latency])
        put(root, f"h200_sxm/gemm/sglang/{version}/gemm_perf", rows)
    found = import_aiconfigurator(["h200_sxm"], ["sglang"])
    assert found.texts("engine_version") == ("0.5.9",)


def test_a_gpu_goes_by_our_name_or_the_wheels(root: Path) -> None:
    rows = gemm_rows("bfloat16", [1], [0.02])
    put(root, "rtx_pro_6000_server/gemm/vllm/0.24.0/gemm_perf", rows)
    for name in ("rtx_pro_6000", "rtx_pro_6000_server"):
        assert import_aiconfigurator([name]).texts("gpu") == ("rtx_pro_6000",)
    with pytest.raises(UnknownNameError, match="tpu_v6"):
        import_aiconfigurator(["tpu_v6"])
    with pytest.raises(UnknownNameError, match="ollama"):
        import_aiconfigurator(["rtx_pro_6000"], ["ollama"])
    with pytest.raises(InputError, match="has no tables of l40s"):
        import_aiconfigurator(["l40s"])


def test_without_the_wheel_one_sentence_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wheel.systems_folder.cache_clear()
    monkeypatch.setattr(wheel, "PACKAGE", "a_package_that_nobody_has")
    with pytest.raises(InputError, match="not installed; install them with: pip install"):
        wheel.systems_folder()
    assert not installed()
    wheel.systems_folder.cache_clear()


@pytest.mark.slow
@pytest.mark.skipif(not installed(), reason="the extra `calibration` is not installed")
def test_the_real_tables_of_a_gpu_are_read() -> None:
    found = import_aiconfigurator(["a100_sxm_80gb"], ["vllm"])
    assert len(found) > 30_000
    # A 4096 x 4096 product of one token reads 33.6 MB at most at 2.04 TB/s: 16.5 µs or more.
    rows = found.where(operation="gemm", precision="bf16")
    one = (rows.number("tokens") == 1) & (rows.number("outer") == 4096)
    one &= rows.number("inner") == 4096
    assert 16.4e-6 <= rows.number("latency_s")[one][0] <= 40e-6
