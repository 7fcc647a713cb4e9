"""`paretoken compare` and `paretoken passes`, as text, JSON and a page."""

import json
from pathlib import Path
from typing import Any

import pytest

STRATEGIES = """
strategies:
  - {name: autoregressive}
  - {name: block_diffusion, block_tokens: 16, denoise_passes: 4, what_if: true}
"""


@pytest.fixture
def two(paretoken: Any, tmp_path: Path) -> Any:
    """A scenario of two strategies."""
    path = tmp_path / "small.yaml"
    path.write_text(path.read_text("utf-8") + STRATEGIES, "utf-8")
    return lambda command, *options: paretoken(command, "small.yaml", *options)


def test_compare_says_who_wins_where_and_why(two: Any) -> None:
    answered = two("compare")
    assert (answered.code, answered.err) == (0, "")
    assert answered.out.startswith("small: the median answer is complete first with ")
    for title in (
        "What each strategy gives",
        "Difference from Autoregressive",
        "Who wins where",
        "Why",
    ):
        assert f"\n{title}\n" in answered.out


def test_compare_gives_one_json_object(two: Any) -> None:
    document = json.loads(two("compare", "--json").out)
    assert [arm["strategy"] for arm in document["strategies"]] == [
        "autoregressive",
        "block_diffusion",
    ]
    apart = document["strategies"][1]["differences"]["ttlt"]["p50"]
    assert apart["interval"][0] <= apart["value"] <= apart["interval"][1]
    assert document["strategies"][1]["quality"] == "unknown"


def test_published_strategies_are_known_by_name(two: Any) -> None:
    document = json.loads(
        two("compare", "--strategies", "autoregressive,speculative:eagle3", "--json").out
    )
    speculative = document["strategies"][1]
    assert speculative["strategy"] == "speculative"
    assert speculative["lossless"]
    assert speculative["refused"] is None


def test_the_same_seed_gives_the_same_bytes(two: Any) -> None:
    assert (
        two("compare", "--json", "--seed", "3").out == two("compare", "--json", "--seed", "3").out
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--strategies", "autoregressive,medusa"), "the scenario lists no strategy `medusa`"),
        (("--strategies", "autoregressive"), "nothing to compare it with"),
    ],
)
def test_strategies_that_cannot_be_compared_are_one_sentence(
    two: Any, options: tuple[str, ...], says: str
) -> None:
    answered = two("compare", *options)
    assert answered.code == 2
    assert says in answered.err
    assert len(answered.err.strip().splitlines()) == 1


def test_passes_shows_a_timeline_and_writes_the_figure(two: Any, tmp_path: Path) -> None:
    answered = two("passes", "--out", "figures", "--output-tokens", "64")
    assert (answered.code, answered.err) == (0, "")
    assert answered.out.startswith("A request of 512 tokens in and 64 out, alone: ")
    assert "What the user sees when" in answered.out
    assert "█" in answered.out
    page = (tmp_path / "figures" / "passes.html").read_text("utf-8")
    assert "tokens seen" in page


def test_passes_gives_what_is_seen_when_as_json(two: Any) -> None:
    document = json.loads(two("passes", "--json", "--batch", "4").out)
    plain, blocks = document["strategies"]
    assert plain["passes"] == 64  # a prefill that yields a token, and 63 more
    assert blocks["passes"] == 1 + 4 * 5
    assert [seen["tokens"] for seen in blocks["seen"]] == [16, 32, 48, 64]
    assert document["batch"] == 4


def test_a_strategy_that_cannot_run_is_named_beside_those_that_can(paretoken: Any) -> None:
    changes = "strategies=[{name: diffusion, denoise_passes: 4}]"
    answered = paretoken("passes", "small.yaml", "--set", changes)
    assert answered.code == 0
    assert "was not trained for diffusion" in " ".join(answered.out.split())


def test_quality_is_listed_with_its_source(paretoken: Any) -> None:
    answered = paretoken("list", "quality", "qwen3-32b", "--json")
    facts = json.loads(answered.out)["quality"]
    assert {fact["weights"] for fact in facts} == {"bf16", "fp8", "int4"}
    assert all(fact["source"] for fact in facts)
    assert paretoken("list", "quality", "nobody").code == 2


def test_an_interrupted_comparison_keeps_the_strategies_that_were_run(
    two: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sim.planning import comparison

    real = comparison._arm

    def arm(scenario: Any, entry: Any) -> Any:
        if entry.strategy == "speculative":
            raise KeyboardInterrupt
        return real(scenario, entry)

    monkeypatch.setattr(comparison, "_arm", arm)
    kept = "autoregressive,block_diffusion"
    answered = two("compare", "--strategies", f"{kept},speculative:eagle3")
    assert answered.code == 130
    assert "Interrupted after 2 of 3 strategies" in answered.out
    assert two("compare", "--strategies", "autoregressive,speculative:eagle3").out == ""


def test_without_a_price_the_cost_is_a_line_that_says_so(two: Any) -> None:
    for command in ("run", "compare"):
        shown = " ".join(two(command, "--set", "prices=null").out.split())
        assert "no price given: `prices: {list: …}` or `usd_per_gpu_hour`" in shown
        assert "no price given" not in two(command).out


@pytest.mark.parametrize("command", ["compare", "passes"])
def test_no_line_is_wider_than_a_terminal_of_80_columns(two: Any, command: str) -> None:
    assert max(map(len, two(command).out.splitlines())) <= 80
