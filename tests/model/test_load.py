"""Names, aliases, files and inline facts lead to one model; all else to one sentence."""

from pathlib import Path

import pytest

from sim.errors import InputError, UnknownNameError
from sim.model import GroupedQuery, load_model

FACTS: dict[str, object] = {
    "name": "mine",
    "layers": 2,
    "hidden_size": 8,
    "heads": 4,
    "intermediate_size": 10,
    "vocab_size": 100,
    "max_context_tokens": 64,
}


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("meta-llama/Llama-3.1-70B", "llama-3.1-70b"),
        ("meta-llama/Meta-Llama-3.1-70B-Instruct", "llama-3.1-70b"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("meta-llama/Meta-Llama-3.1-8B", "llama-3.1-8b"),
        ("META-LLAMA/llama-3.1-8b", "llama-3.1-8b"),
        ("Llama-3.1-8B", "llama-3.1-8b"),
        ("Qwen/Qwen3-32B", "qwen3-32b"),
        ("llama-3.3-70b", "llama-3.1-70b"),
        ("deepseek-ai/DeepSeek-R1", "deepseek-v3"),
    ],
)
def test_repositories_are_aliases_of_the_catalog(alias: str, name: str) -> None:
    assert load_model(alias) == load_model(name)


def test_an_unknown_model_is_refused_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean llama-3\.1-70b"):
        load_model("llama-3.1-700b")
    with pytest.raises(UnknownNameError, match="known: deepseek-v3"):
        load_model("zzz")


def test_facts_from_a_file_equal_facts_inline(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("\n".join(f"{key}: {value}" for key, value in FACTS.items()))
    assert load_model(path) == load_model(str(path)) == load_model(FACTS)


def test_heads_left_out_mean_full_attention_and_the_quotient_as_width() -> None:
    (group,) = load_model(FACTS).groups
    mixer = group.layer.mixer
    assert isinstance(mixer, GroupedQuery)
    assert (mixer.heads, mixer.kv_heads, mixer.head_dim, mixer.value_dim) == (4, 4, 2, 2)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"layer": 3}, "`layer` is not a key here; did you mean `layers`"),
        ({"layers": 0}, "`layers` should be greater than or equal to 1, found 0"),
        ({"layers": 2.5}, "`layers` should be a valid integer, found 2.5"),
        ({"kv_heads": 3}, "`heads` 4 is not a multiple of `kv_heads` 3"),
        ({"heads": 3}, "`hidden_size` 8 is not a multiple of `heads` 3"),
        ({"experts": 8}, "`experts` is not a key here"),
        ({"qk_norm": "no"}, "`qk_norm` should be a valid boolean"),
    ],
)
def test_wrong_facts_are_refused_by_key(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        load_model({**FACTS, **changes})
    assert problem in str(caught.value)


ARCHITECTURE: dict[str, object] = {
    "mixers": {"gqa": {"kind": "grouped_query", "heads": 4, "head_dim": 2}},
    "mlps": {"mlp": {"kind": "dense", "intermediate_size": 10}},
    "layers": [{"count": 2, "mixer": "gqa", "mlp": "mlp"}],
}
LAYERED: dict[str, object] = {
    "name": "mine",
    "hidden_size": 8,
    "vocab_size": 100,
    "max_context_tokens": 64,
    "architecture": ARCHITECTURE,
}


def test_flat_facts_and_layers_written_out_are_the_same_model() -> None:
    assert load_model(LAYERED) == load_model(FACTS)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"layers": [{"count": 2, "mixer": "mla"}]}, "`mixer` 'mla' is not among ['gqa']"),
        ({"layers": [{"count": 2, "mlp": "moe"}]}, "`mlp` 'moe' is not among ['mlp']"),
        ({"layers": []}, "`architecture.layers` should have at least 1 item"),
        ({"mixers": {"gqa": {"kind": "rwkv"}}}, "should be one of"),
        (
            {"mlps": {"mlp": {"kind": "moe", "experts": 2, "active": 3}}},
            "`architecture.mlps.mlp.intermediate_size` is missing",
        ),
        (
            {"mixers": {"gqa": {"kind": "grouped_query", "heads": 4, "head_dim": 2, "windw": 3}}},
            "`architecture.mixers.gqa.windw` is not a key here",
        ),
    ],
)
def test_a_wrong_architecture_is_refused_by_key(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        load_model({**LAYERED, "architecture": {**ARCHITECTURE, **changes}})
    assert problem in str(caught.value)


def test_the_formats_of_weights_may_be_written_as_a_whole_or_by_part() -> None:
    assert load_model({**FACTS, "weights": "fp8"}).weights.of("attention") == "fp8"
    weights = {"layers": "bf16", "experts": "mxfp4", "kv": "fp8", "group_elements": 32}
    mixed = load_model({**FACTS, "weights": weights}).weights
    assert (mixed.of("experts"), mixed.of("attention"), mixed.kv) == ("mxfp4", "bf16", "fp8")


def test_the_hybrid_of_the_recipe_is_qwen_3_next(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text(encoding="utf-8")
    block = text.partition("name: my-hybrid")[2].partition("```")[0]
    path = tmp_path / "mine.yaml"
    path.write_text(f"name: my-hybrid{block}", encoding="utf-8")
    assert load_model(path).groups == load_model("qwen3-next-80b-a3b").groups
