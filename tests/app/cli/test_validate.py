"""`paretoken validate`: error tables, the JSON object, the files, the exit code."""

import json
from pathlib import Path
from typing import Any

import pytest

TABLE = """\
case,model,gpu,engine,weights,tensor_parallel,expert_parallel,attention_data_parallel,concurrency,\
input_tokens,output_tokens,suspect,ttft_ms,tpot_ms
a,llama-3.1-8b,h100_sxm,vllm,bf16,1,1,1,2,128,16,0,10,5
b,openai/gpt-oss-120b,h100_sxm,vllm,fp4,1,1,1,2,128,16,0,10,5
"""


@pytest.fixture
def runs(paretoken: Any, tmp_path: Path) -> str:
    (tmp_path / "runs.csv").write_text(TABLE, encoding="utf-8")
    return "runs.csv"


def test_the_answer_comes_first_and_a_refusal_alone_is_no_failure(
    paretoken: Any, runs: str
) -> None:
    answered = paretoken("validate", runs)
    assert answered.code == 0
    assert answered.out.splitlines()[0].startswith("1 of 2 runs compared")
    assert "openai/gpt-oss-120b" in answered.out


def test_json_is_one_object_and_statistics_are_chosen_once(paretoken: Any, runs: str) -> None:
    answered = paretoken("validate", runs, "--json", "--ttft-statistic", "median")
    found = json.loads(answered.out)
    assert (found["rows"], found["simulated"]) == (2, 1)
    assert found["refused"][0]["case"] == "b"
    assert found["ttft_statistic"] == "median"


def test_rows_and_a_plot_go_to_the_folder(paretoken: Any, runs: str, tmp_path: Path) -> None:
    assert paretoken("validate", runs, "--out", "results").code == 0
    assert (tmp_path / "results" / "rows.csv").read_text(encoding="utf-8").count("\n") == 2
    assert (tmp_path / "results" / "parity.html").is_file()


def test_a_missing_column_is_one_sentence_on_stderr(
    paretoken: Any, runs: str, tmp_path: Path
) -> None:
    text = TABLE.replace("tpot_ms", "speed")
    (tmp_path / runs).write_text(text, encoding="utf-8")
    answered = paretoken("validate", runs)
    assert (answered.code, answered.out) == (2, "")
    assert "`tpot_ms`" in answered.err
