"""Explore without a browser: what the script draws for choices, links and clicks."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.dashboard import state
from app.dashboard.runs import as_yaml
from sim.scenario import load

SCRIPT = Path(__file__).parents[3] / "app" / "dashboard" / "app.py"


@pytest.fixture
def opened() -> Callable[..., AppTest]:
    """Open the page with some parts of an address, as a link would."""

    def open_page(**link: str) -> AppTest:
        page = AppTest.from_file(str(SCRIPT), default_timeout=60)
        for name, value in link.items():
            page.query_params[f"e_{name}"] = value
        page.run()
        assert not page.exception
        return page

    return open_page


@pytest.fixture
def in_catalog(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """Add a scenario to the catalog: that of the start, with overrides."""
    for file in load.SCENARIOS.glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(load, "SCENARIOS", tmp_path)

    def add(name: str, *overrides: str) -> None:
        scenario = load.load_scenario(state.START, [f"name={name}", *overrides])
        (tmp_path / f"{name}.yaml").write_text(as_yaml(scenario), encoding="utf-8")

    yield add
    state.scenario_named.cache_clear()


def answer(page: AppTest) -> str:
    return str(page.main.markdown[0].value)


def values(page: AppTest) -> list[str]:
    return [str(tile.value) for tile in page.metric]


def texts(page: AppTest) -> str:
    return "\n".join(str(element.value) for element in [*page.markdown, *page.caption])


def click(page: AppTest, label: str) -> None:
    next(button for button in page.button if button.label == label).click().run()
    assert not page.exception


def test_the_page_opens_with_the_answer_and_six_tiles(opened: Callable[..., AppTest]) -> None:
    page = opened()
    assert answer(page).startswith(
        "### 8 × H100 (4 replicas of 2) serve 8 requests/s for \\$16,294 a month: "
    )
    assert len(page.metric) == 6
    assert not page.warning
    assert not page.error


def test_a_move_of_the_load_changes_the_tiles(opened: Callable[..., AppTest]) -> None:
    page = opened()
    before = values(page)
    page.select_slider(key="e_load").set_value(12.0).run()
    assert not page.exception
    assert "serve 12 requests/s" in answer(page)
    assert values(page)[:5] != before[:5]
    assert values(page)[5] == before[5]  # the bill does not depend on the load


def test_what_does_not_fit_says_by_how_much_and_can_be_repaired(
    opened: Callable[..., AppTest],
) -> None:
    page = opened(weights="bf16", tensor_parallel="1")
    assert answer(page) == "### llama-3.1-70b in bf16 does not fit on 1 × H100"
    assert "GB more than" in page.error[0].value
    assert not page.metric
    assert "Store weights in fp8" in [button.label for button in page.button]
    click(page, page.button[0].label)
    assert "serve 8 requests/s" in answer(page)


def test_overload_is_said_and_can_be_repaired(opened: Callable[..., AppTest]) -> None:
    page = opened(load="100")
    asked = "### Overloaded: 8 × H100 (4 replicas of 2) cannot sustain 100 requests/s; "
    assert answer(page).startswith(f"{asked}they sustain about ")
    assert values(page)[:3] == ["—"] * 3
    repair = next(button.label for button in page.button if button.label.endswith(" replicas"))
    click(page, repair)
    assert "serve 100 requests/s" in answer(page)


def test_less_traffic_repairs_overload_too(opened: Callable[..., AppTest]) -> None:
    page = opened(load="100")
    repair = next(button.label for button in page.button if button.label.startswith("Serve "))
    click(page, repair)
    assert repair.lower() in answer(page)


def test_a_link_that_asks_for_what_there_is_not_is_answered_and_said(
    opened: Callable[..., AppTest],
) -> None:
    page = opened(load="8.123", gpu="H200 SXM", replicas="0")
    assert "8 × H100" not in answer(page)
    assert "8 × H200 (4 replicas of 2) serve 8 requests/s" in answer(page)
    said = page.warning[0].value
    assert "e_load=8.123" in said
    assert "e_replicas=0" in said
    assert "e_gpu" not in said
    page.run()
    assert not page.warning


def test_choices_that_clash_are_refused_in_one_sentence(
    opened: Callable[..., AppTest], in_catalog: Callable[..., None]
) -> None:
    in_catalog("zz-small-budget", "deployment.max_batched_tokens=64")
    page = opened(scenario="zz-small-budget", strategy="Block diffusion", block_tokens="128")
    assert answer(page) == "### These choices do not go together"
    assert page.error[0].value == (
        "Deployment.max_batched_tokens: one pass of block_diffusion needs 128 positions, more"
        " than the budget of 64; raise it."
    )


def test_a_gpu_that_no_list_prices_leaves_the_money_open(opened: Callable[..., AppTest]) -> None:
    page = opened(gpu="B200 SXM")
    assert "a month" not in answer(page)
    assert values(page)[4:] == ["—", "—"]
    assert "No price: price list `runpod` has no on_demand price" in texts(page)
    page.selectbox(key="e_price").set_value("own price").run()
    page.number_input(key="e_usd_per_gpu_hour").set_value(4.0).run()
    assert values(page)[5] == "\\$23,360"  # 8 x 4 x 730


def test_speculation_is_compared_with_autoregressive_decoding(
    opened: Callable[..., AppTest],
) -> None:
    page = opened(strategy="Speculative")
    assert "Acceptance by position: 70 · 65 · 60%" in texts(page)
    assert "× autoregressive decoding" in page.main.markdown[1].value.replace("**", "")


def test_knobs_that_went_out_of_sight_come_back_as_they_were(
    opened: Callable[..., AppTest],
) -> None:
    page = opened(strategy="Speculative")
    page.slider(key="e_draft_tokens").set_value(5).run()
    page.selectbox(key="e_strategy").set_value("Autoregressive").run()
    page.selectbox(key="e_strategy").set_value("Speculative").run()
    assert page.slider(key="e_draft_tokens").value == 5
    assert page.query_params["e_draft_tokens"] == "5"


def test_a_longer_run_is_made_only_for_the_scenario_that_asked(
    opened: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.dashboard.runs.FULL_REQUESTS", 2_500)
    page = opened()
    assert "preview: 1,500 requests" in texts(page)
    click(page, "Run 2,500 requests")
    assert "full run: 2,500 requests" in texts(page)
    page.select_slider(key="e_load").set_value(6.0).run()
    assert "preview: 1,500 requests" in texts(page)


def test_a_scenario_of_the_catalog_sets_every_widget(
    opened: Callable[..., AppTest], in_catalog: Callable[..., None]
) -> None:
    users = ("workload.arrivals.kind=closed_loop", "workload.arrivals.users=40")
    in_catalog("zz-users", "model=llama-3.1-8b", *users, "slo.ttft_ms=700")
    page = opened(load="12")
    page.selectbox(key="e_scenario").set_value("zz-users").run()
    assert not page.exception
    assert not page.warning
    assert "serve 40 users at once" in answer(page)
    assert page.selectbox(key="e_model").value == "llama-3.1-8b"
    assert page.number_input(key="e_ttft_ms").value == 700
    assert "e_load" not in page.query_params
