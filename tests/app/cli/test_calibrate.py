"""`paretoken calibrate` and `validate` of benchmark files, as typed."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

CSV = """\
operation,precision,gpu,engine,engine_version,latency_us,tokens,outer,inner,source
gemm,bf16,NVIDIA H200,torch,2.9,14.1,16,4096,4096,mine
gemm,bf16,NVIDIA H200,torch,2.9,60.0,16,28672,4096,mine
"""
RESULT = {
    "model_id": "meta-llama/Llama-3.1-8B-Instruct", "num_prompts": 40, "request_rate": "inf",
    "max_concurrency": 4, "completed": 40, "total_input_tokens": 40 * 128,
    "total_output_tokens": 40 * 16, "mean_ttft_ms": 20.0, "median_ttft_ms": 18.0,
    "mean_tpot_ms": 7.0, "mean_itl_ms": 7.0, "output_throughput": 500.0,
    "request_throughput": 31.0,
}  # fmt: skip


def test_a_csv_of_timings_becomes_parquet(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(CSV, "utf-8")
    answered = paretoken("calibrate", "import", "csv", "mine.csv", "--out", "mine.parquet")
    assert (answered.code, answered.err) == (0, "")
    assert answered.out == "2 kernels: 2 of gemm\nWritten to mine.parquet\n"
    assert (tmp_path / "mine.parquet").stat().st_size > 0


def test_a_table_without_an_end_is_imported_with_a_note(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(CSV.rstrip(), "utf-8")
    answered = paretoken("calibrate", "import", "csv", "mine.csv")
    assert answered.code == 0
    assert "Note: the file does not end with a line break" in answered.out
    (tmp_path / "mine.csv").write_text(CSV.rstrip()[:-1], "utf-8")
    answered = paretoken("calibrate", "import", "csv", "mine.csv")
    assert answered.code == 2
    assert "ends with `min` and no line break, as `mine` begins" in answered.err


def test_the_gpu_of_an_import_is_a_profile(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(CSV, "utf-8")
    answered = paretoken("calibrate", "import", "csv", "mine.csv", "--gpu", "h100")
    assert answered.code == 2
    assert "did you mean" in answered.err


def test_a_wrong_csv_leaves_nothing_behind(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(CSV.replace("60.0", "nan"), "utf-8")
    answered = paretoken("calibrate", "import", "csv", "mine.csv")
    assert answered.code == 2
    assert "line 3: `latency_us` should be a number above 0, found 'nan'" in answered.err
    assert not (tmp_path / "timings.parquet").exists()


def test_a_folder_of_vidur_becomes_parquet(paretoken: Any, tmp_path: Path) -> None:
    head = (
        "n_head,n_kv_head,n_embd,n_expanded_embd,use_gated_mlp,num_tokens,"
        "num_tensor_parallel_workers,time_stats.mlp_up_proj.median"
    )
    (tmp_path / "mlp.csv").write_text(f"{head}\n32,8,4096,14336,True,64,1,0.12\n", "utf-8")
    answered = paretoken("calibrate", "import", "vidur", ".", "--gpu", "h100_sxm")
    assert (answered.code, answered.err) == (0, "")
    assert answered.out.startswith("1 kernel: 1 of gemm")
    unknown = paretoken("calibrate", "import", "vidur", ".", "--gpu", "h100")
    assert unknown.code == 2
    assert "did you mean" in unknown.err


def test_the_collector_is_written_as_one_file(paretoken: Any, tmp_path: Path) -> None:
    answered = paretoken("calibrate", "collect", "--script", "collect.py")
    assert answered.code == 0
    assert (tmp_path / "collect.py").read_text("utf-8").startswith('"""Time the kernels')


def test_without_torch_the_collector_says_what_to_install(
    paretoken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "calibration.collect.collect", raising=False)
    for name in ("cases", "device", "links", "provenance"):
        monkeypatch.delitem(sys.modules, f"calibration.collect.{name}", raising=False)
    answered = paretoken("calibrate", "collect", "--device", "cpu")
    assert answered.code == 2
    assert "torch is not installed; pip install 'paretoken[collect]'" in answered.err


def test_a_result_file_is_validated_with_a_scenario(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(RESULT), "utf-8")
    answered = paretoken("validate", "result.json", "--scenario", "small.yaml", "--out", "there")
    assert (answered.code, answered.err) == (0, "")
    assert answered.out.startswith("1 of 1 run compared: at the median TPOT off by ")
    assert max(len(line) for line in answered.out.splitlines()) <= 80
    assert {path.name for path in (tmp_path / "there").iterdir()} == {"rows.csv", "parity.html"}
    printed = paretoken("validate", "result.json", "--scenario", "small.yaml", "--json")
    document = json.loads(printed.out)
    assert document["overall"]["output_tokens_per_s"]["n"] == 1


def test_a_result_file_without_a_deployment_asks_for_one(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(RESULT), "utf-8")
    answered = paretoken("validate", "result.json")
    assert answered.code == 2
    assert "does not name the gpu; give the deployment with --scenario" in answered.err
    changed = paretoken("validate", "result.json", "--set", "hardware=h200_sxm")
    assert "name one with --scenario" in changed.err


def test_a_table_of_runs_takes_no_scenario(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("case,model,concurrency\na,b,1\n", "utf-8")
    answered = paretoken("validate", "runs.csv", "--scenario", "small.yaml")
    assert answered.code == 2
    assert "every row names its own deployment" in answered.err


def test_engines_of_a_table_have_to_be_named_apart(paretoken: Any, tmp_path: Path) -> None:
    head = (
        "case,model,gpu,engine,weights,tensor_parallel,expert_parallel,attention_data_parallel,"
        "concurrency,input_tokens,output_tokens,ttft_ms,tpot_ms\n"
    )
    rows = "".join(f"a{i},m,g,{e},fp8,1,1,1,1,8,8,1,1\n" for i, e in enumerate(("vllm", "sglang")))
    (tmp_path / "runs.csv").write_text(head + rows, "utf-8")
    answered = paretoken("calibrate", "engine", "runs.csv")
    assert answered.code == 2
    assert "holds rows of sglang, vllm; name one with --engine" in answered.err
