"""`paretoken calibrate fit` and `import aiconfigurator`: files whole, or one sentence and none."""

import json
from pathlib import Path

import numpy as np
import pytest

from app.cli.main import execute
from calibration.timings import checked, from_columns, write_timings
from calibration.timings.aiconfigurator import wheel

SCENARIO = """\
name: mine
model: llama-3.1-8b
hardware: l40s
engine: vllm
fitted: mine.yaml
workload:
  arrivals: {kind: poisson, requests_per_s: 1}
  input_tokens: {kind: fixed, tokens: 500}
  output_tokens: {kind: fixed, tokens: 20}
run: {requests: 200}
"""


def timings(path: Path, scale: float = 1.0) -> Path:
    """Nine products on an L40S: 5 µs and the longer of 70 % of the peaks."""
    m = np.array([1, 8, 64, 256, 1024, 4096, 16, 512, 2048])
    n = np.array([4096, 8192, 1024, 4096, 8192, 2048, 16384, 1024, 4096])
    k = np.array([4096, 4096, 8192, 1024, 2048, 8192, 4096, 16384, 4096])
    flop, moved = 2.0 * m * n * k, 2.0 * (n * k + m * k + m * n)
    latency = (5e-6 + np.maximum(flop / 0.7 / 181e12, moved / 0.7 / 864e9)) * scale
    facts = {
        "operation": "gemm",
        "precision": "bf16",
        "gpu": "l40s",
        "engine": "torch",
        "engine_version": "2.9",
        "source": "a test",
        "latency_s": latency,
    }
    shapes = {"tokens": m, "outer": n, "inner": k}
    return write_timings(checked(from_columns({**facts, **shapes}, 9), "a test"), path)


def test_nine_points_become_a_profile_that_a_scenario_can_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    timings(tmp_path / "timings.parquet")
    assert (
        execute(["calibrate", "fit", "timings.parquet", "--gpu", "l40s", "--out", "mine.yaml"])
        == 0
    )
    said = capsys.readouterr().out
    assert "gemm.bf16" in said
    assert "mine.yaml and mine.html" in said
    assert "all others stay as" in said
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    assert execute(["run", "scenario.yaml", "--json"]) in {0, 1}
    outcome = json.loads(capsys.readouterr().out)
    own, shipped = (outcome["provenance"][part] for part in ("own kernels", "kernels"))
    assert own["origin"] == "measured"
    assert own["source"].startswith("gemm.bf16, as of torch: kernel timings: a test")
    assert own["error"].startswith("gemm.bf16 ")
    assert shipped["origin"] == "calibrated"
    assert "gemm.bf16" not in shipped["error"]
    assert "decode_attention.bf16" in shipped["error"]


def test_a_profile_of_another_gpu_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = SCENARIO.replace("fitted: mine.yaml", "fitted: h200_sxm__vllm")
    (tmp_path / "scenario.yaml").write_text(text, encoding="utf-8")
    assert execute(["run", "scenario.yaml"]) == 2
    assert (
        "h200_sxm__vllm was fitted on h200_sxm, and the hardware is l40s"
        in capsys.readouterr().err
    )


def test_a_slip_of_units_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    timings(tmp_path / "timings.parquet", scale=1000.0)  # milliseconds taken for seconds
    assert (
        execute(["calibrate", "fit", "timings.parquet", "--gpu", "l40s", "--out", "mine.yaml"])
        == 2
    )
    assert "latency_s is in seconds" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["timings.parquet"]


def test_without_the_wheel_the_import_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    wheel.systems_folder.cache_clear()
    monkeypatch.setattr(wheel, "PACKAGE", "a_package_that_nobody_has")
    assert execute(["calibrate", "import", "aiconfigurator"]) == 2
    assert "pip install" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    wheel.systems_folder.cache_clear()


def test_a_report_that_cannot_be_written_leaves_no_profile_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    timings(tmp_path / "timings.parquet")
    (tmp_path / "file").write_text("", encoding="utf-8")
    wanted = ["calibrate", "fit", "timings.parquet", "--gpu", "l40s", "--out", "mine.yaml"]
    assert execute([*wanted, "--report", "file/mine.html"]) == 2
    assert "is a file, not a folder" in capsys.readouterr().err
    assert not (tmp_path / "mine.yaml").exists()
