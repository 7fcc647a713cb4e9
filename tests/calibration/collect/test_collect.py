"""The collector for real, on a CPU: collect, fit, predict shapes that the fit has not seen."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from calibration.collect.bundle import bundle
from calibration.fit.fit import fit_timings
from calibration.fit.judge import Accepted
from calibration.timings import Timings, checked, read_timings, write_timings
from calibration.timings.csv_file import export_rows, import_csv
from sim.hardware import GpuProfile, load_gpu

pytestmark = pytest.mark.slow
torch = pytest.importorskip("torch", reason="torch is not installed (the extra `collect`)")

BOUND_OF_PRODUCTS = 0.40
BOUND_OF_ATTENTION = 0.35
"""Mean error on held-out shapes. One core of a busy machine repeats a timing within 10 to 20 %."""


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    from calibration.collect.collect import collect

    return collect("cpu", minutes=6, most=70, heads=(8, 2, 64))


@pytest.fixture(scope="module")
def timings(rows: list[dict[str, Any]]) -> Timings:
    return export_rows(list(rows), "cpu", "the collector")


def as_bf16(timings: Timings) -> Timings:
    """Return the CPU's 32-bit kernels as those of the format that a profile has.

    A fit sees shapes and seconds; that every number is twice as wide halves the bandwidth.
    """
    table = timings.table
    for name in ("precision", "kv_precision"):
        cells = ["bf16" if cell == "fp32" else cell for cell in table[name].to_pylist()]
        table = table.set_column(table.schema.get_field_index(name), name, [cells])
    return checked(table, "the test")


def profile_of(timings: Timings) -> GpuProfile:
    """Return this CPU as a profile: its peaks are the best that was measured, and a tenth."""
    products, copies = timings.where(operation="gemm"), timings.where(operation="copy")
    m, n, k = (products.number(name) for name in ("tokens", "outer", "inner"))
    seconds = products.number("latency_s")
    flop_per_s = float((2 * m * n * k / seconds).max())
    moved = 2 * copies.number("message_bytes") / copies.number("latency_s")
    bytes_per_s = float(max(moved.max() / 2, (2 * (n * k + m * k) / seconds).max()))
    like = load_gpu("h100_sxm")
    return like.model_copy(
        update={
            "name": "cpu",
            "bf16_dense_flop_per_s": like.bf16_dense_flop_per_s.model_copy(
                update={"value": 1.1 * flop_per_s}
            ),
            "memory_bandwidth_bytes_per_s": like.memory_bandwidth_bytes_per_s.model_copy(
                update={"value": 1.1 * bytes_per_s}
            ),
        }
    )


def held_out_error(accepted: Sequence[Accepted], part: str) -> float:
    """Return the largest of the errors of a part, over all its regimes."""
    errors = {each.part: max(each.evidence.held_out.values()) for each in accepted}
    return errors[part]


def test_a_fit_of_what_was_collected_predicts_shapes_that_it_has_not_seen(
    timings: Timings, tmp_path: Path
) -> None:
    path = write_timings(timings, tmp_path / "timings.parquet")
    found = read_timings(path)
    assert {"gemm", "decode_attention", "prefill_attention", "copy", "host_launch"} <= set(
        found.texts("operation")
    )
    fit = fit_timings(as_bf16(found), profile_of(found))
    assert not fit.refused
    assert held_out_error(fit.accepted, "gemm.bf16") < BOUND_OF_PRODUCTS
    assert held_out_error(fit.accepted, "prefill_attention.bf16") < BOUND_OF_ATTENTION
    assert held_out_error(fit.accepted, "decode_attention.bf16") < BOUND_OF_ATTENTION


def test_every_row_says_where_it_comes_from(rows: list[dict[str, Any]]) -> None:
    assert len(rows) > 15
    for row in rows:
        assert row["gpu"] == "cpu"
        assert row["engine_version"] == str(torch.__version__)
        assert row["library"].startswith("torch ")
        assert len(row["measured_on"]) == 10
        assert row["latency_s"] > 0
        assert row["spread_s"] >= 0
        assert row["repeats"] >= 5
        assert row["captured"] is False


def test_a_larger_product_takes_longer(rows: list[dict[str, Any]]) -> None:
    # at the same N and K, 64 times the rows are at least 3 times the time
    times: dict[tuple[int, int], dict[int, float]] = {}
    for row in rows:
        if row["operation"] == "gemm":
            times.setdefault((row["outer"], row["inner"]), {})[row["tokens"]] = row["latency_s"]
    pairs = [
        (few, many, here[few], here[many])
        for here in times.values()
        for few in here
        for many in here
        if many >= 64 * few
    ]
    assert pairs
    assert all(slow > 3 * quick for _, _, quick, slow in pairs)


def test_one_file_with_torch_alone_is_enough(tmp_path: Path) -> None:
    (tmp_path / "collect.py").write_text(bundle(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", "collect.py", "--device", "cpu", "--minutes", "0.1"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "kernels measured on cpu" in done.stdout
    assert len(import_csv(tmp_path / "timings.csv", gpu="cpu")) > 2


def test_a_stop_keeps_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    from calibration.collect import collect

    real, calls = collect.time_case, []

    def interrupted(*arguments: Any) -> dict[str, Any]:
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(collect, "time_case", interrupted)
    assert len(collect.collect("cpu", minutes=1)) == 2


def test_a_kernel_that_fails_is_left_out_and_the_rest_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from calibration.collect import collect

    real, calls = collect.time_case, []

    def failing(*arguments: Any) -> dict[str, Any]:
        calls.append(arguments)
        if len(calls) == 2:
            raise RuntimeError("CUDA out of memory\nmore of it")
        if len(calls) > 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(collect, "time_case", failing)
    assert len(collect.collect("cpu", minutes=1)) == 2
    assert "CUDA out of memory" in capsys.readouterr().err
