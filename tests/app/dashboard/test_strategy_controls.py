"""The knobs of strategies on Explore without a browser: what is shown, and what it means."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

SCRIPT = Path(__file__).parents[3] / "app" / "dashboard" / "app.py"
SMALL = {"model": "llama-3.1-8b", "tensor_parallel": "1", "load": "4"}


@pytest.fixture
def opened() -> Callable[..., AppTest]:
    def open_page(**link: str) -> AppTest:
        page = AppTest.from_file(str(SCRIPT), default_timeout=60)
        for name, value in (SMALL | link).items():
            page.query_params[f"e_{name}"] = value
        page.run()
        assert not page.exception
        return page

    return open_page


def texts(page: AppTest) -> str:
    return "\n".join(str(element.value) for element in [*page.markdown, *page.caption])


def test_a_published_table_is_shown_with_its_source_and_brings_its_drafter(
    opened: Callable[..., AppTest],
) -> None:
    page = opened(strategy="Speculative")
    page.selectbox(key="e_acceptance").set_value("eagle3-llama-3.1-8b").run()
    assert not page.exception
    assert page.selectbox(key="e_drafter").value == "as published"
    # vllm issue 20780: 2.79 tokens per round with three drafts
    assert "2.79 tokens per round" in texts(page)
    assert "github.com/vllm-project/vllm/issues/20780" in texts(page)
    page.selectbox(key="e_acceptance").set_value("dflash-qwen3").run()
    assert "not with llama-3.1-8b" in texts(page)
    assert page.slider(key="e_draft_tokens").value == 7
    page.selectbox(key="e_acceptance").set_value("own figures").run()
    assert not page.exception
    assert page.selectbox(key="e_drafter").value == "share of a pass"


def test_a_scenario_that_states_no_acceptance_asks_for_it(opened: Callable[..., AppTest]) -> None:
    page = opened(scenario="two-classes-70b-h100", strategy="Speculative", load="2.5")
    assert "Acceptance: how many drafts are accepted has no default" in page.error[0].value
    page.selectbox(key="e_acceptance").set_value("own tokens per round").run()
    assert not page.error


def test_knobs_in_a_fold_are_drawn_where_a_link_sets_them(opened: Callable[..., AppTest]) -> None:
    page = opened(strategy="Speculative")
    assert "e_policy" not in {box.key for box in page.selectbox}
    page = opened(strategy="Speculative", policy="off above a batch", policy_sequences="8")
    assert page.selectbox(key="e_policy").value == "off above a batch"
    assert page.number_input(key="e_policy_sequences").value == 8
    assert not page.warning


def test_a_published_speed_of_denoising_is_shown_with_its_source(
    opened: Callable[..., AppTest],
) -> None:
    page = opened(model="llada-8b", strategy="Diffusion", schedule="published", load="1")
    page.selectbox(key="e_denoise_row").set_value("llada-8b, gsm8k, threshold 0.9").run()
    assert not page.exception
    assert "2.77 tokens per pass: d3LLM leaderboard (arXiv:2601.07568)" in texts(page)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"model": "llada-8b"}, "llada-8b is a diffusion model"),
        ({"strategy": "Diffusion", "canvas_tokens": "16"}, "longer than the canvas"),
        ({"drafter": "draft model", "model": "gemma-3-12b"}, "no smaller model of the catalog"),
    ],
)
def test_wrong_combinations_are_one_sentence(
    link: dict[str, str], said: str, opened: Callable[..., AppTest]
) -> None:
    page = opened(**{"strategy": "Speculative", **link})
    assert len(page.error) == 1
    assert said in page.error[0].value
    assert "Traceback" not in page.error[0].value


def test_classes_have_a_table_of_their_own(opened: Callable[..., AppTest]) -> None:
    page = opened(scenario="two-classes-70b-h100", model="llama-3.1-8b", load="2.5", tab="Classes")
    (table,) = page.table
    assert table.value.iloc[:, 0].tolist() == ["chat", "summary"]
