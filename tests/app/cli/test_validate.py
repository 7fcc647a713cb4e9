"""`paretoken validate`: measured runs beside their predictions."""

import json
from pathlib import Path
from typing import Any

HEAD = (
    "case,model,gpu,engine,weights,tensor_parallel,expert_parallel,attention_data_parallel,"
    "concurrency,input_tokens,output_tokens,measured_on,repeats,suspect,ttft_ms,tpot_ms\n"
)
DENSE = (
    "a1,meta-llama/Llama-3.1-8B-Instruct,h100_sxm,vllm,fp8,1,1,1,4,512,128,2026-04-06,1,0,60,8\n"
)
MIXTURE = "b2,openai/gpt-oss-120b,h100_sxm,vllm,fp8,1,1,1,4,512,128,2026-04-06,1,0,60,8\n"


def test_errors_are_shown_and_refused_rows_named(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(HEAD + DENSE + MIXTURE, "utf-8")
    answered = paretoken("validate", "runs.csv", "--out", "there")
    assert (answered.code, answered.err) == (0, "")
    assert answered.out.startswith("1 of 2 runs compared: at the median TPOT off by ")
    assert "gpt-oss-120b" in answered.out
    assert max(len(line) for line in answered.out.splitlines()) <= 80
    assert (tmp_path / "there" / "rows.csv").read_text("utf-8").count("\n") == 2
    document = json.loads(paretoken("validate", "runs.csv", "--json").out)
    assert (document["rows"], document["simulated"]) == (2, 1)


def test_refused_rows_alone_are_an_answer(paretoken: Any, tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text(HEAD + MIXTURE, "utf-8")
    answered = paretoken("validate", "runs.csv")
    assert answered.code == 0
    assert answered.out.startswith("0 of 1 run compared.")


def test_whose_settings_stand_is_asked_for_and_told(paretoken: Any, tmp_path: Path) -> None:
    suite = DENSE.replace("a1,meta-llama/Llama-3.1-8B-Instruct", "c3,meta-llama/Llama-3.1-70B")
    suite = suite.replace(
        "h100_sxm,vllm,fp8,1,1,1,4,512,128", "h200_sxm,vllm,fp8,1,1,1,4,1024,1024"
    )
    (tmp_path / "runs.csv").write_text(HEAD + suite, "utf-8")
    answered = paretoken("validate", "runs.csv")
    assert "1 of 1 run" in answered.out
    assert "InferenceX" in answered.out
    assert "InferenceX" not in paretoken("validate", "runs.csv", "--settings", "engine").out
    document = json.loads(paretoken("validate", "runs.csv", "--json").out)
    assert document["settings"]["suite"] == 1
