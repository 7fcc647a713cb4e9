"""The one file from its command line, over a torch that only says that it has a GPU."""

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Opened = Callable[..., ModuleType]


def test_the_script_writes_its_table_and_says_what_is_best(
    opened: Opened,
    fakes: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text(
        '{"hidden_size": 512, "intermediate_size": 1024, "num_attention_heads": 8}', "utf-8"
    )
    monkeypatch.setattr(sys, "argv", ["collect.py", "--model", "config.json", "--minutes", "5"])
    assert opened(fakes.Fake()).main() == 0
    said = capsys.readouterr().out
    assert "kernels measured on NVIDIA H200" in said
    assert "gemm fp8, TFLOP/s" in said
    with (tmp_path / "timings.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["outer"] for row in rows if row["operation"] == "gemm"} == {"1536", "512", "2048"}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--out", "none/there.csv"], "there is no such folder"),
        (["--model", "none.json"], "cannot be read"),
        (["--model", "odd.json"], "not the config.json of a dense model"),
    ],
)
def test_what_the_script_cannot_use_is_said_before_anything_is_timed(  # noqa: PLR0917  # fixtures
    opened: Opened,
    fakes: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    problem: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.json").write_text("{}", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["collect.py", *arguments])
    with pytest.raises(SystemExit):
        opened(fakes.Fake()).main()
    assert problem in capsys.readouterr().err


def test_nothing_measured_is_no_success_and_no_file(
    opened: Opened, fakes: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["collect.py", "--minutes", "-1"])
    assert opened(fakes.Fake()).main() == 1
    assert not (tmp_path / "timings.csv").exists()
