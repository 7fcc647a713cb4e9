"""Published acceptance: every file of the catalog, and how a variant is found by name."""

from pathlib import Path

import pytest

from sim.decoding import Speculative, list_acceptance, load_acceptance, published_variant
from sim.errors import InputError, UnknownNameError
from sim.scenario import build_scenario


@pytest.mark.parametrize("name", list_acceptance())
def test_every_row_of_a_published_table_gives_the_mean_that_was_published(name: str) -> None:
    table = load_acceptance(name)
    assert table.source
    assert any(row.domain == table.domain for row in table.rows)
    for row in table.rows:
        assert row.model is None or row.model in table.models
        for drafts, tokens_per_pass in (row.tokens_per_pass or {}).items():
            survival = row.survival_of(drafts)
            assert 1 + sum(survival) == pytest.approx(tokens_per_pass, rel=1e-9)


def test_tables_hold_what_their_sources_say() -> None:
    """EAGLE-3 on MT-bench (arXiv:2503.01840, Table 1), DSpark on Qwen3 (arXiv:2607.05147)."""
    tree = load_acceptance("eagle3-tree-llama")
    cold, warm = (tree.pick("mt-bench", t, "llama-3.1-8b").tokens_per_pass for t in (0.0, 1.0))
    assert (cold, warm) == ({8: 6.13}, {8: 4.24})
    dspark = load_acceptance("dspark-qwen3")
    domains = ("gsm8k", "arena-hard")
    found = [dspark.pick(name, None, "qwen3-4b").tokens_per_pass for name in domains]
    assert found == [{7: 6.11}, {7: 3.29}]


def test_a_variant_is_named_by_its_drafter_and_shows_its_source() -> None:
    keys = published_variant("eagle3", ["llama-3.1-8b"])
    strategy = Speculative.model_validate(keys)
    assert strategy.mean_tokens_per_pass() == pytest.approx(2.79)
    assert "vllm/issues/20780" in strategy.basis
    assert "mt-bench" in strategy.basis
    assert not strategy.assumed


def test_what_nobody_published_is_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownNameError, match="no drafter named `eagel3`"):
        published_variant("eagel3", ["llama-3.1-8b"])
    with pytest.raises(InputError, match="nobody published the acceptance of dspark for jamba"):
        published_variant("dspark", ["jamba"])


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"table": "eagle3-tree-llama"}, "name the model whose figures to take"),
        ({"table": "eagle3-tree-llama", "measured_with": "llama-3.1-8b"}, "decoding.domain"),
        (
            {
                "table": "eagle3-tree-llama",
                "measured_with": "llama-3.1-8b",
                "domain": "mt-bench",
            },
            "at temperature 0, 1; name one",
        ),
        ({"table": "eagle3-llama-3.1-8b", "domain": "poems"}, "no acceptance for .* 'poems'"),
        ({"table": "eagle3-llama-3.1-8b", "draft_tokens": 9}, "use 7 at most"),
    ],
)
def test_a_table_that_does_not_say_is_asked_in_a_sentence(
    keys: dict[str, object], says: str
) -> None:
    strategy = Speculative.model_validate({"draft_tokens": 3, **keys})
    with pytest.raises(InputError, match=says):
        strategy.mean_tokens_per_pass()


def test_a_scenario_names_a_variant_in_one_word() -> None:
    lengths = {"kind": "fixed", "tokens": 50}
    content = {
        "model": "meta-llama/Llama-3.1-8B-Instruct",
        "hardware": "h100_sxm",
        "decoding": "speculative:eagle3",
        "strategies": ["autoregressive", "speculative:eagle1"],
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": 1},
            "input_tokens": lengths,
            "output_tokens": lengths,
        },
    }
    scenario = build_scenario(content, where="test", folder=Path())
    assert scenario.decoding.label == "speculative (eagle3, 3 draft tokens)"
    assert [one.name for one in scenario.strategies] == ["autoregressive", "speculative"]
    with pytest.raises(InputError, match="there is no default"):
        build_scenario({**content, "decoding": "speculative"}, where="test", folder=Path())


def test_the_error_names_what_is_published_for_this_very_model_and_how_to_take_another() -> None:
    # arXiv 2503.01840 has trees of EAGLE-3 for the 70B; nobody has its chains
    with pytest.raises(InputError) as caught:
        published_variant("eagle3", ["llama-3.1-70b"])
    assert "for llama-3.1-70b there is speculative:eagle3-tree" in str(caught.value)
    assert "`measured_with`: it is published for llama-3.1-8b" in str(caught.value)
