"""`paretoken drift`: speed-up against drift as text and JSON, and what is refused."""

import json
from pathlib import Path

import pytest

from app.cli.main import execute

SCENARIO = """
model: llama-3.1-8b
hardware: h100_sxm
decoding:
  name: speculative
  drafter: eagle3
  draft_tokens: 3
  draft: {kind: eagle, vocab_size: 32000}
  by_domain: {chat: {acceptance_rate: 0.5}, code: {acceptance_rate: 0.85}}
workload:
  arrivals: {kind: closed_loop, users: 96}
  input_tokens: {kind: fixed, tokens: 200}
  output_tokens: {kind: fixed, tokens: 60}
  domains: {code: 0.8, chat: 0.2}
run: {requests: 96}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    path = tmp_path / "mixed.yaml"
    path.write_text(SCENARIO, "utf-8")
    return str(path)


def test_scaled_acceptance_is_told_with_its_break_even(
    scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["drift", scenario, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kind"] == "acceptance_scale"
    gains = [point["speed_up"] for point in found["points"]]
    assert gains[0] > 1 > gains[-1]
    assert 0 < found["break_even"]["at"] < 1


def test_a_mix_that_moves_is_told_in_words(
    scenario: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["drift", scenario, "--to", "chat=1"]) == 0
    text = capsys.readouterr().out
    assert "mix moved by" in text
    assert "eagle3, 3 draft tokens" in text


@pytest.mark.parametrize("mix", ["chat", "chat=0.4,code=0.4", "chat=2,code=-1"])
def test_a_mix_that_is_none_is_refused_in_a_sentence(
    scenario: str, mix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["drift", scenario, "--to", mix]) == 2
    assert "1 in sum" in capsys.readouterr().err
