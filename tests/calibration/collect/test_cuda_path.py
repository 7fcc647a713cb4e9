"""The one file on a machine with a GPU, as far as it can be had without: every line runs once."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from calibration.timings.csv_file import import_csv

Opened = Callable[..., ModuleType]


def operations(rows: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(row["operation"], row["precision"]) for row in rows}


def test_a_hopper_is_timed_in_three_formats_inside_graphs(
    opened: Opened, fakes: Any, tmp_path: Path
) -> None:
    rows = opened(fakes.Fake()).collect("cuda", minutes=5)
    assert operations(rows) == {
        *(("gemm", precision) for precision in ("bf16", "fp8", "int8")),
        *(("decode_attention", "bf16"), ("prefill_attention", "bf16"), ("copy", "int8")),
        *((name, "fp32") for name in ("launch", "launch_captured", "host_launch")),
    }
    for row in rows:
        if row["operation"] != "host_launch":
            assert row["latency_s"] == pytest.approx(20e-6)
        assert row["captured"] == (row["operation"] not in {"launch", "host_launch"})
        assert (row["clock_mhz"], row["driver"]) == (1980.0, "1980")
    path = tmp_path / "timings.csv"
    opened(fakes.Fake()).write_csv(rows, path)
    assert len(import_csv(path, gpu="h200_sxm")) == len(rows)


def test_a_volta_is_timed_in_fp16_for_it_has_no_units_for_bf16(opened: Opened, fakes: Any) -> None:
    rows = opened(fakes.Fake(capability=(7, 0))).collect("cuda", minutes=5, most=40)
    kinds = {precision for operation, precision in operations(rows) if "gemm" in operation}
    assert kinds == {"fp16"}
    assert ("decode_attention", "fp16") in operations(rows)


def test_an_older_torch_without_grouped_attention_times_the_rest(
    opened: Opened, fakes: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = opened(fakes.Fake(version="2.4.1")).collect("cuda", minutes=5, most=90)
    assert {"gemm", "copy"} <= {operation for operation, _ in operations(rows)}
    assert not any("attention" in operation for operation, _ in operations(rows))
    said = capsys.readouterr().err
    assert "unexpected keyword argument 'enable_gqa'" in said
    assert said.count("is left out from here on") == 2  # decode and prefill
    ungrouped = opened(fakes.Fake(version="2.4.1")).collect(
        "cuda", minutes=5, heads=(8, 8, 64), most=40
    )
    assert ("decode_attention", "bf16") in operations(ungrouped)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("_scaled_mm", RuntimeError("torch._scaled_mm is only supported on CUDA devices with")),
        ("_scaled_mm", TypeError("_scaled_mm() missing 1 required positional argument")),
        ("attention", RuntimeError("CUDA out of memory. Tried to allocate 34.00 GiB")),
    ],
)
def test_a_kernel_that_this_machine_lacks_costs_three_tries_and_no_more(
    opened: Opened, fakes: Any, capsys: pytest.CaptureFixture[str], name: str, error: Exception
) -> None:
    fake = fakes.Fake()
    fake.failing[name] = error
    rows = opened(fake).collect("cuda", minutes=5, most=90)
    assert ("gemm", "bf16") in operations(rows)
    assert fake.calls.count(name) == 3 * (2 if name == "attention" else 1)
    assert str(error)[:40] in capsys.readouterr().err


def test_a_broken_device_keeps_what_was_measured(
    opened: Opened, fakes: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = fakes.Fake()
    fake.failing["empty_cache"] = RuntimeError("CUDA error: an illegal memory access")
    rows = opened(fake).collect("cuda", minutes=5)
    assert len(rows) == 1
    assert "Stopped by RuntimeError: CUDA error" in capsys.readouterr().err


def test_without_nvidia_smi_there_is_no_clock_and_no_driver(opened: Opened, fakes: Any) -> None:
    rows = opened(fakes.Fake(), smi=None).collect("cuda", minutes=5, most=4)
    assert [(row["clock_mhz"], row["driver"]) for row in rows] == [(None, None)] * len(rows)
    odd = opened(fakes.Fake(), smi="[N/A]").collect("cuda", minutes=5, most=4)
    assert {row["clock_mhz"] for row in odd} == {None}


def test_several_gpus_are_timed_over_their_links(opened: Opened, fakes: Any) -> None:
    fake = fakes.Fake()
    fake.gpus = 4
    rows = opened(fake).collect("cuda", minutes=5, most=3)
    links = [row for row in rows if row["engine"] == "nccl"]
    assert {row["ranks"] for row in links} == {2, 4}
    assert {row["operation"] for row in links} == {
        "all_reduce", "all_gather", "reduce_scatter", "all_to_all",
    }  # fmt: skip
    assert [row["latency_s"] for row in links] == pytest.approx([20e-6] * len(links))


def test_ranks_that_wait_for_each_other_are_ended_and_the_rest_is_kept(
    opened: Opened, fakes: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = fakes.Fake()
    fake.gpus, fake.failing["init"] = 2, RuntimeError("never")
    collector: Any = opened(fake)
    real = collector.link_rows
    monkeypatch.setattr(collector, "link_rows", lambda: real(longest_s=0.0))
    rows = collector.collect("cuda", minutes=5, most=3)
    assert len(rows) == 3
    assert all(process.killed for process in fake.processes)
    assert "NCCL over 2 GPUs did not end" in capsys.readouterr().err


def test_a_kernel_that_never_ends_ends_the_process_and_keeps_the_rows(
    opened: Opened, fakes: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    collector: Any = opened(fakes.Fake())
    ended: list[int] = []
    kept: list[int] = []
    monkeypatch.setattr(collector.os, "_exit", ended.append)
    watch = collector.Watch([{"a": 1}], lambda rows: kept.append(len(rows)), longest_s=0.0)
    watch.begin("gemm bf16 {'tokens': 1}")
    watch.timer.join(timeout=5)
    assert (ended, kept) == ([3], [1])
    assert "gemm bf16 {'tokens': 1} did not end in 0 s: 1 kernels" in capsys.readouterr().err


def test_a_disk_that_is_full_costs_the_file_and_not_the_rows(
    opened: Opened, fakes: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    collector: Any = opened(fakes.Fake())
    clock = iter(range(0, 100_000, 31))
    monkeypatch.setattr(collector.time, "monotonic", lambda: next(clock))

    def full(_: object) -> None:
        raise OSError(28, "No space left on device")

    rows = collector.collect("cuda", minutes=1e4, most=5, keep=full)
    assert len(rows) == 5
    assert "No space left on device" in capsys.readouterr().err


def test_ctrl_c_and_the_end_of_the_time_keep_what_was_measured(
    opened: Opened, fakes: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = fakes.Fake()
    fake.failing["attention"] = KeyboardInterrupt()
    rows = opened(fake).collect("cuda", minutes=5)
    assert len(rows) > 3
    assert f"Stopped: {len(rows)} kernels were measured and are kept" in capsys.readouterr().err
    assert opened(fakes.Fake()).collect("cuda", minutes=-1.0) == []


def test_the_same_file_runs_on_a_cpu_in_32_bits(
    opened: Opened, fakes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector: Any = opened(fakes.Fake())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    rows = collector.collect("cpu", minutes=5, most=14, progress=collector.draw_bar)
    assert {precision for _, precision in operations(rows)} == {"fp32", "int8"}  # copies: bytes
    assert {row["clock_mhz"] for row in rows} == {None}
