"""Explore without a browser: what the script draws for choices, links and clicks."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from app.dashboard import state
from app.dashboard.choices import as_keys
from app.dashboard.runs import PREVIEW_REQUESTS, of_length
from sim.hardware import list_gpus
from sim.model import list_models
from sim.run import Outcome
from sim.scenario import Scenario, load, load_scenario, resolve

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


@pytest.fixture
def download(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Scenario]:
    """Return the scenario that the page offers as a file, as it was last drawn."""
    offered: list[Outcome] = []
    monkeypatch.setattr("app.dashboard.exports.draw", offered.append)
    return lambda: offered[-1].scenario


def as_yaml(scenario: Scenario) -> str:
    return yaml.safe_dump(as_keys(scenario), allow_unicode=True)


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
    assert answer(page).startswith(f"{asked}bound by arithmetic, with all 256 places of each ")
    assert "they sustain about " in answer(page)
    assert values(page)[:3] == ["—"] * 3
    repair = next(button.label for button in page.button if button.label.endswith(" replicas"))
    click(page, repair)
    assert "100 requests/s" in answer(page)
    assert "Overloaded" not in answer(page)


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
    page = opened(gpu="GB200")
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


def test_the_whole_catalog_of_models_and_gpus_is_offered(opened: Callable[..., AppTest]) -> None:
    page = opened()
    assert set(page.selectbox(key="e_model").options) == set(list_models())
    assert len(page.selectbox(key="e_gpu").options) == len(list_gpus())
    assert {"checkpoint", "int4", "nvfp4"} <= set(page.selectbox(key="e_weights").options)
    assert page.selectbox(key="e_tensor_parallel").options == ["1", "2", "4", "8"]
    assert "70.6 B parameters · bf16 · 128k context" in texts(page)


def test_experts_can_be_spread_where_a_model_has_some(
    opened: Callable[..., AppTest], download: Callable[[], Scenario]
) -> None:
    page = opened()
    assert not [box for box in page.selectbox if box.label in {"Data parallel", "Experts"}]
    page.selectbox(key="e_model").set_value("qwen3-235b-a22b").run()
    page.selectbox(key="e_gpu").set_value("h200_sxm").run()
    page.selectbox(key="e_tensor_parallel").set_value(4).run()
    page.selectbox(key="e_attention_data_parallel").set_value(2).run()
    page.selectbox(key="e_experts").set_value("spread").run()
    assert not page.exception
    assert "32 × H200 (4 replicas of 8)" in answer(page)
    scenario = download()
    assert scenario.deployment.expert_parallel == 8
    assert scenario.deployment.attention_data_parallel == 2
    page.selectbox(key="e_model").set_value("llama-3.1-70b").run()
    assert download().deployment.gpus_per_replica == 4  # what it has none of is undone


def test_a_scenario_with_spread_experts_opens_as_it_is(
    opened: Callable[..., AppTest], download: Callable[[], Scenario]
) -> None:
    page = opened(scenario="deepseek-r1-h200")
    assert page.selectbox(key="e_experts").value == "spread"
    assert page.selectbox(key="e_attention_data_parallel").value == 8
    assert answer(page).startswith("### 8 × H200 serve")
    own = load_scenario("deepseek-r1-h200")
    assert download() in {of_length(own, PREVIEW_REQUESTS), of_length(own, 4 * PREVIEW_REQUESTS)}


@pytest.mark.parametrize("weights", ["checkpoint", "int4", "nvfp4"])
def test_weights_may_be_stored_as_published_or_in_four_bits(
    opened: Callable[..., AppTest], download: Callable[[], Scenario], weights: str
) -> None:
    page = opened(model="gpt-oss-120b", weights=weights)
    assert "serve 8 requests/s" in answer(page)
    assert download().deployment.weights == weights


CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "_name_or_path": "us/ours-8b",
}


def upload(page: AppTest, *files: tuple[str, object]) -> None:
    """Choose files of the user's own, as JSON."""
    chosen = [(name, json.dumps(content).encode(), "application/json") for name, content in files]
    page.file_uploader(key="e_config_files").set_value(chosen).run()
    assert not page.exception


def test_a_model_of_the_users_own_runs_and_goes_into_the_scenario(
    opened: Callable[..., AppTest], download: Callable[[], Scenario], tmp_path: Path
) -> None:
    page = opened(tensor_parallel="1")
    upload(page, ("config.json", CONFIG))
    assert page.selectbox(key="e_model").value == "ours-8b (uploaded)"
    assert "8.03 B parameters" in texts(page)
    assert "serve 8 requests/s" in answer(page)
    path = tmp_path / "mine.yaml"
    path.write_text(as_yaml(download()), encoding="utf-8")
    assert resolve(load_scenario(path)).model.total_parameters == 8_030_261_248
    page.selectbox(key="e_model").set_value("llama-3.1-8b").run()
    assert download().model == "llama-3.1-8b"
    assert "ours-8b (uploaded)" in page.selectbox(key="e_model").options
    page.selectbox(key="e_model").set_value("ours-8b (uploaded)").run()
    assert isinstance(download().model, dict)


def test_an_upload_that_is_no_model_is_refused_and_changes_nothing(
    opened: Callable[..., AppTest],
) -> None:
    page = opened()
    before = answer(page)
    upload(page, ("config.json", {**CONFIG, "flux_capacitors": 3}))
    assert "config.json: `flux_capacitors`" in page.error[0].value
    assert answer(page) == before
    upload(page, ("config.json", CONFIG))
    assert not page.error
