"""Running the command line inside the test, as a user would."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.cli.main import execute

SMALL = """\
name: small
model: llama-3.1-8b
hardware: h100_sxm
deployment: {max_sequences: 64}
workload:
  arrivals: {kind: poisson, requests_per_s: 4}
  input_tokens: {kind: fixed, tokens: 512}
  output_tokens: {kind: fixed, tokens: 64}
slo: {ttft_ms: 1000, tpot_ms: 50}
prices: {usd_per_gpu_hour: 2.0, source: a contract of ours, as_of: 2026-11}
run: {requests: 1000, seed: 0}
"""


@dataclass(frozen=True)
class Answered:
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Answered]


@pytest.fixture
def paretoken(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Command:
    """Run a command line in a folder of its own and return what it answered."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "small.yaml").write_text(SMALL, encoding="utf-8")

    def call(*arguments: str) -> Answered:
        capsys.readouterr()
        code = execute(arguments)
        out, err = capsys.readouterr()
        return Answered(code, out, err)

    return call
