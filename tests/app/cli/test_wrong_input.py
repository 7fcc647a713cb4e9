"""Whatever the user gets wrong: one sentence on stderr, nothing on stdout, exit code 2."""

from pathlib import Path
from typing import Any

import pytest

GOOD = """\
model: llama-3.1-8b
hardware: h100_sxm
workload:
  arrivals: {kind: poisson, requests_per_s: 4}
  input_tokens: {kind: fixed, tokens: 512}
  output_tokens: {kind: fixed, tokens: 64}
"""
TRACE = GOOD.partition("workload:")[0] + "workload: {arrivals: {kind: trace, path: trace.csv}}\n"
BAD_SCENARIOS = {
    "misspelt key": (GOOD.replace("hardware", "hardwear"), "did you mean `hardware`?"),
    "wrong unit": (GOOD + "slo: {ttft_s: 1}\n", "did you mean `ttft_ms`?"),
    "wrong type": (GOOD.replace("tokens: 512", "tokens: many"), "found 'many'"),
    "GPU too small": (GOOD.replace("8b", "70b"), "GB too much"),
    "negative rate": (GOOD.replace("_s: 4", "_s: -4"), "greater than 0, found -4"),
    "unknown model": (GOOD.replace("llama-3.1-8b", "llama-3.1-9b"), "llama-3.1-8b"),
    "prompt beyond the context": (GOOD.replace("512", "200000"), "131,072 in all"),
    "not YAML": (GOOD + "slo: [1, 2\n", "not valid YAML"),
    "a number that is none": (GOOD.replace("_s: 4", "_s: .nan"), "finite"),
    "a number without end": (GOOD.replace("_s: 4", "_s: .inf"), "found inf"),
    "nothing in it": ("", "empty"),
}
BAD_TRACES = {
    "empty": ("", "trace.csv"),
    "a head only": ("arrival_s,input_tokens,output_tokens\n", "trace.csv"),
    "times that run back": ("arrival_s,input_tokens,output_tokens\n2,10,10\n1,10,10\n", "line 3"),
}


def assert_refused(answered: Any, words: str) -> None:
    assert answered.code == 2
    assert not answered.out
    assert answered.err.count("\n") == 1
    assert answered.err.startswith("paretoken: ")
    assert words in answered.err
    assert "Traceback" not in answered.err


@pytest.mark.parametrize("name", BAD_SCENARIOS)
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_a_bad_scenario_file_is_refused_in_one_sentence(
    paretoken: Any, tmp_path: Path, name: str, options: tuple[str, ...]
) -> None:
    content, words = BAD_SCENARIOS[name]
    (tmp_path / "bad.yaml").write_text(content, "utf-8")
    assert_refused(paretoken("run", "bad.yaml", *options), words)


@pytest.mark.parametrize("name", BAD_TRACES)
def test_a_bad_trace_is_refused_in_one_sentence(paretoken: Any, tmp_path: Path, name: str) -> None:
    content, words = BAD_TRACES[name]
    (tmp_path / "trace.csv").write_text(content, "utf-8")
    (tmp_path / "bad.yaml").write_text(TRACE, "utf-8")
    assert_refused(paretoken("run", "bad.yaml"), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "."), "directory"),
        (("run", "chat-70b-h200"), "chat-70b-h100"),
        (("run", "small.yaml", "--trace", "none.csv"), "none.csv"),
        (("run", "small.yaml", "--set", "deployment.replicas"), "key.path=value"),
        (("run", "small.yaml", "--set", "deployment.replica=2"), "did you mean `replicas`?"),
        (("run", "small.yaml", "--set", "name.x=2"), "holds a value, not keys"),
        (("run", "small.yaml", "--set", "slo.ttft_ms=.nan"), "slo.ttft_ms"),
        (("run", "small.yaml", "--seed", "-1"), "small.yaml with --seed -1: `run.seed`"),
        (("compare", "small.yaml", "--seed", "-1"), "small.yaml with --seed -1: `run.seed`"),
        (("frontier", "small.yaml", "--seed", "-1"), "small.yaml with --seed -1: `run.seed`"),
        (
            ("run", "small.yaml", "--precision", "5%", "--metric", "foo"),
            "small.yaml with --precision 5% --metric foo: `run.metric`",
        ),
        (
            ("run", "small.yaml", "--set", "run.requests=9", "--seed", "-1"),
            "with --set run.requests=9 --seed -1",
        ),
        (
            ("run", "small.yaml", "--set", "prices.as_of='2026'"),
            "should be a date as YYYY-MM or YYYY-MM-DD, or `undated`, found '2026'",
        ),
        (("show", "quality", "no-such-model"), "paretoken list quality"),
        (("show", "denoising", "no-such-model"), "paretoken list denoising"),
        (("run", "small.yaml", "--seed", "one"), "--seed"),
        (("run",), "SCENARIO"),
        (("run", "small.yaml", "--jsn"), "--json"),
        (("walk",), "walk"),
        (("list", "cars"), "cars"),
        (("show", "model", "llama-3.1-9b"), "llama-3.1-8b"),
        (("show", "hardware", "H10"), "h100_sxm"),
        (("explain", "small.yaml", "--batch", "0"), "--batch"),
        (("frontier", "small.yaml", "--tensor-parallel", "0"), "greater than or equal to 1"),
        (("run", "small.yaml", "--out", ""), "'--out': expected a path, found nothing"),
        (("run", "small.yaml", "--timeline", " "), "'--timeline': expected a path"),
        (("run", "small.yaml", "--trace-events", ""), "'--trace-events': expected a path"),
        (("run", "small.yaml", "--trace", ""), "'--trace': expected a path"),
        (("frontier", "small.yaml", "--out", ""), "'--out': expected a path"),
        (("passes", "small.yaml", "--out", ""), "'--out': expected a path"),
        (("claims", "--out", ""), "'--out': expected a path"),
        (("validate", "small.csv", "--out", ""), "'--out': expected a path"),
        (("calibrate", "import", "csv", "x.csv", "--out", ""), "'--out': expected a path"),
        (("app", "--port", "65536"), "--port"),
        (("explain", "nowhere.yaml"), "nowhere.yaml"),
        (("validate", "nowhere.csv"), "nowhere.csv"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_command_line_is_refused_in_one_sentence(
    paretoken: Any, arguments: tuple[str, ...], words: str
) -> None:
    assert_refused(paretoken(*arguments), words)


def test_a_file_that_is_no_text_is_refused(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe\x00\x01")
    assert_refused(paretoken("run", "bad.yaml"), "not a text file")


def test_an_error_of_the_system_is_one_sentence_too(
    paretoken: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sim.report.files.tempfile.mkdtemp", full)
    assert_refused(paretoken("run", "small.yaml", "--out", "there"), "No space left on device")


def test_an_interrupted_run_says_so_and_writes_nothing(
    paretoken: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("app.cli.run.run_thoroughly", interrupt)
    answered = paretoken("run", "small.yaml", "--out", "there")
    assert (answered.code, answered.out) == (130, "")
    assert answered.err == "paretoken: Interrupted.\n"
    assert not (tmp_path / "there").exists()
