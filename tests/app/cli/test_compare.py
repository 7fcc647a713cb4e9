"""`paretoken explain --model A --model B`: the finding first, then the tables."""

import json
from pathlib import Path
from typing import Any

import pytest

TWO = ("explain", "--model", "deepseek-v3", "--model", "llama-3.1-405b")
ON_EIGHT = ("--hardware", "h200_sxm", "--weights", "fp8", "--tensor-parallel", "8")


def test_the_finding_comes_first_then_four_tables(paretoken: Any) -> None:
    answered = paretoken(*TWO, *ON_EIGHT, "--batch", "1,16", "--context", "1000,8000")
    assert (answered.code, answered.err) == (0, "")
    text = " ".join(answered.out.split())
    # 126 x 2 x 8 x 128 x 2 B against 61 x 576 x 2 B a token: 7.34; an eighth of the first on each
    # GPU against all of the second: 1.09
    assert text.startswith(
        "At 8,000 tokens and batch 16, deepseek-v3 reads 7.3× less cache per token than"
        " llama-3.1-405b (counted once for the model; on each GPU 1.1× more)"
    )
    for title in ("Architectures", "Cache of one sequence", "GPU time per", "Output tokens/s"):
        assert title in text
    assert max(map(len, answered.out.splitlines())) <= 80


def test_a_program_gets_the_same_with_units_in_the_names(paretoken: Any) -> None:
    options = ("--batch", "1,64", "--context", "32000", "--json")
    document = json.loads(paretoken(*TWO, *ON_EIGHT, *options).out)
    assert document["gpus"] == 8
    latent, grouped = document["models"]
    assert latent["contexts"][0]["cache_bytes_per_token"] == 61 * 576 * 2
    assert grouped["contexts"][0]["cache_bytes_per_token"] == 126 * 2 * 8 * 128 * 2
    for cell in latent["grid"]:
        assert cell["tokens_per_s_per_gpu"] is None or (
            cell["tokens_per_s_per_gpu"] * cell["gpu_ms_per_token"] == pytest.approx(1000)
        )
        assert (cell["why_not"] is None) == (cell["pass_ms"] is not None)


def test_as_few_gpus_as_fit_unless_a_number_is_given(paretoken: Any) -> None:
    small = ("explain", "--model", "llama-3.1-8b", "--model", "qwen3-8b", "--json")
    assert json.loads(paretoken(*small).out)["gpus"] == 1
    assert json.loads(paretoken(*small, "--tensor-parallel", "2").out)["gpus"] == 2
    spread = ("--set", "deployment.tensor_parallel=4")
    assert json.loads(paretoken(*small, *spread).out)["gpus"] == 4


def test_the_replica_of_a_scenario_can_be_borrowed(paretoken: Any) -> None:
    models = ("--model", "llama-3.1-70b", "--model", "qwen3-32b", "--json")
    document = json.loads(paretoken("explain", "chat-70b-h100", *models).out)
    assert document["gpus"] == 2
    assert document["deployment"]["kv_precision"] == "fp8"


def test_what_does_not_fit_is_said_with_a_way_out(paretoken: Any) -> None:
    answered = paretoken(*TWO, "--batch", "1", "--context", "1000")
    assert answered.code == 0
    text = " ".join(answered.out.split())
    assert "neither can be served like that there" in text
    assert "does not fit" in text
    assert "set `deployment." in text


def test_a_file_is_compared_with_the_catalog(paretoken: Any, tmp_path: Path) -> None:
    config = {
        "model_type": "qwen3",
        "hidden_size": 4096,
        "intermediate_size": 12288,
        "num_hidden_layers": 36,
        "num_attention_heads": 32,
        "num_key_value_heads": 32,
        "head_dim": 128,
        "vocab_size": 151936,
        "max_position_embeddings": 40960,
    }
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    shown = paretoken("explain", "--model", "qwen3-8b", "--model", "mine").out
    assert "qwen3-8b reads 4.0× less cache per token than mine" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("explain",), "name a scenario, or models to compare"),
        (("explain", "--model", "qwen3-8b"), "nothing to compare with"),
        (("explain", "--model", "qwen3-8b", "--model", "qwen3-8b"), "named twice"),
        (("explain", "--model", "qwen3-8b", "--model", "qwen3"), "no model named"),
        ((*TWO, "--batch", "1,few"), "--batch 1,8,64"),
        ((*TWO, "--context", "0"), "--context"),
        ((*TWO, "--weights", "fp7"), "weights"),
        ((*TWO, "--hardware", "tpu"), "no hardware named"),
        (("explain", "small.yaml", "--batch", "1,8"), "--model A --model B"),
        (("explain", "small.yaml", "--hardware", "l4"), "--set"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_sentence(
    paretoken: Any, arguments: tuple[str, ...], said: str
) -> None:
    answered = paretoken(*arguments)
    assert (answered.code, answered.out) == (2, "")
    assert answered.err.count("\n") == 1
    assert said in answered.err
