"""Published acceptance and tokens per pass, and engine presets, by name."""

import json
from typing import Any

import pytest
import yaml

from sim.decoding.denoise_tables import list_denoise_tables
from sim.decoding.published import list_acceptance


@pytest.mark.parametrize("name", list_acceptance())
def test_a_table_of_acceptance_is_shown_and_can_be_named_as_it_says(
    paretoken: Any, name: str
) -> None:
    shown = paretoken("show", "acceptance", name)
    assert (shown.code, shown.err) == (0, "")
    text = " ".join(shown.out.split())
    decoding = yaml.safe_load(text.partition("for example: decoding: ")[2])
    assert decoding["table"] == name
    model = json.loads(paretoken("show", "acceptance", name, "--json").out)["models"][0]
    # The vocabulary of a served model beside it is another matter: here the keys must be right.
    answered = paretoken(
        "run", "small.yaml", "--set", f"decoding={text.partition('for example: decoding: ')[2]}",
        "--set", "run.requests=20", "--set", f"model={model}", "--json",
    )  # fmt: skip
    assert "decoding" not in answered.err, answered.err


def test_rows_of_acceptance_are_those_of_the_publication(paretoken: Any) -> None:
    # EAGLE-3 (arXiv:2503.01840), Table 1: MT-bench at temperature 0 and 1, Llama-3.1-8B
    rows = json.loads(paretoken("show", "acceptance", "eagle3-tree-llama", "--json").out)["rows"]
    of_8b = {
        row["temperature"]: row["tokens_per_pass"]
        for row in rows
        if (row["model"], row["domain"]) == ("llama-3.1-8b", "mt-bench")
    }
    assert of_8b == pytest.approx({0: 6.13, 1: 4.24})


def test_tokens_per_denoise_pass_are_listed_with_their_source(paretoken: Any) -> None:
    facts = json.loads(paretoken("list", "denoising", "--json").out)["denoising"]
    assert {fact["table"] for fact in facts} == set(list_denoise_tables())
    assert all(fact["source"] and fact["tokens_per_pass"] > 0 for fact in facts)
    (row,) = [
        fact for fact in facts if (fact["table"], fact["threshold"], fact["block_tokens"])
        == ("llada-2.0-mini", 0.85, 32)
    ]  # fmt: skip
    assert row["tokens_per_pass"] == 3.31  # LLaDA 2.0 report, figure 4
    assert paretoken("list", "denoising", "llada-8b").code == 0


def test_an_engine_shows_every_setting_with_who_says_so(paretoken: Any) -> None:
    document = json.loads(paretoken("show", "engine", "vllm", "--json").out)
    settings = {setting["key"]: setting for setting in document["settings"]}
    assert settings["memory_fraction"]["value"] == 0.9
    assert all(setting["origin"] and setting["source"] for setting in settings.values())
    shown = paretoken("show", "engine", "vllm").out
    assert "memory_fraction" in shown
    assert "chunked_prefill" in shown
