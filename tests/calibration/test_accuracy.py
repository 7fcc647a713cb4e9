from collections.abc import Callable
from pathlib import Path

import pytest

from calibration import accuracy
from calibration.validate import validate_file
from calibration.validate.causes import CAUSES, HOST, cause_of
from calibration.validate.replay import Prediction
from calibration.validate.runs import read_runs

Row = Callable[..., str]
RunsFile = Callable[..., Path]


def test_the_document_is_the_same_for_the_same_table(runs_file: RunsFile, row: Row) -> None:
    path = runs_file(row(), row(case="b", gpu="abacus"))
    once, again = (accuracy.document(validate_file(path, workers=1)) for _ in range(2))
    assert once == again
    assert "the same for all models and GPUs, was chosen on these rows" in once
    assert "aiconfigurator-core 0.12.0" in once
    assert "abacus" in once
    assert str(path.parent) not in once


def test_it_is_written_to_docs_and_a_wrong_table_is_one_sentence(
    runs_file: RunsFile,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    target = tmp_path / "accuracy.md"
    monkeypatch.setattr(accuracy, "DOCUMENT", target)
    monkeypatch.setattr(accuracy, "published_page", lambda: "## Published\n")
    assert accuracy.main([str(runs_file())]) == 0
    assert target.read_text(encoding="utf-8").startswith("# Accuracy\n")
    assert accuracy.main([str(tmp_path / "none.csv")]) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cells", "ttft_ms", "cause"),
    [
        ({"engine": "sglang", "concurrency": 512}, 10, "front end"),
        ({"input_tokens": 8192, "concurrency": 512}, 100_000, "KV room"),
        ({"input_tokens": 8192, "concurrency": 4}, 100_000, "host"),  # there is room for four
        ({"engine": "trtllm", "tensor_parallel": 8, "concurrency": 128}, 10, "wide all-reduce"),
        ({"ttft_ms": 5000, "tpot_ms": 1.0}, 10, "answers withheld"),
        ({}, 10, "host"),
    ],
)
def test_each_cause_is_told_by_its_signs(
    runs_file: RunsFile, row: Row, cells: dict[str, object], ttft_ms: float, cause: str
) -> None:
    (run,) = read_runs(runs_file(row(**cells)))
    assert cause_of(run, Prediction(ttft_ms, 5.0, 0.1)).name == cause
    assert cause in {known.name for known in (*CAUSES, HOST)}
