"""From a file and `--set` to a checked scenario, and what is refused on the way."""

import json
from pathlib import Path

import pytest

from sim.decoding import BlockDiffusion, Speculative
from sim.errors import InputError, UnknownNameError
from sim.model import load_model
from sim.scenario import list_scenarios, load_scenario, resolve, scenario_path
from sim.workload import ClosedLoop, Constant, Poisson, Trace

PLAIN = """
model: llama-3.1-8b
hardware: h100_sxm
workload:
  arrivals: {kind: poisson, requests_per_s: 2}
  input_tokens: {kind: fixed, tokens: 100}
  output_tokens: {kind: fixed, tokens: 50}
"""
LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(PLAIN, "utf-8")
    return path


@pytest.mark.parametrize("name", list_scenarios())
def test_every_built_in_scenario_loads_under_its_own_name_and_resolves(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario.name == scenario_path(name).stem == name
    assert resolve(scenario).limits.replicas == scenario.deployment.replicas
    for strategy in scenario.strategies:
        resolve(scenario.with_decoding(strategy))


def test_a_file_without_a_name_is_called_like_the_file(plain: Path) -> None:
    assert load_scenario(plain).name == "mine"


def test_what_is_left_out_has_a_default_and_a_price_has_none(plain: Path) -> None:
    scenario = load_scenario(plain)
    assert scenario.decoding.name == "autoregressive"
    assert scenario.deployment.gpus == 1
    assert scenario.prices is None
    assert resolve(scenario).quote is None


def test_overrides_reach_any_depth_and_are_read_as_yaml(plain: Path) -> None:
    scenario = load_scenario(
        plain,
        [
            "deployment.tensor_parallel=2",
            "deployment.weights=fp8",
            "slo.ttft_ms=5e2",
            "workload.arrivals.requests_per_s=3.5",
            "run.seed=7",
            "name=another",
        ],
    )
    assert scenario.deployment.tensor_parallel == 2
    assert scenario.deployment.weights == "fp8"
    assert scenario.slo.ttft_ms == 500.0
    assert scenario.workload.arrivals == Poisson(requests_per_s=3.5)
    assert (scenario.run.seed, scenario.name) == (7, "another")


def test_another_kind_drops_the_keys_of_the_old_one(plain: Path) -> None:
    kind, users = "workload.arrivals.kind=closed_loop", "workload.arrivals.users=8"
    assert load_scenario(plain, [kind, users]).workload.arrivals == ClosedLoop(users=8)
    same = load_scenario(plain, ["workload.arrivals.kind=poisson"])
    assert same.workload.arrivals == Poisson(requests_per_s=2)
    steady = ["workload.arrivals.kind=constant", "workload.arrivals.requests_per_s=4"]
    assert load_scenario(plain, steady).workload.arrivals == Constant(requests_per_s=4)


def test_a_strategy_can_be_given_key_by_key(plain: Path) -> None:
    scenario = load_scenario(
        plain,
        [
            "decoding.name=speculative",
            "decoding.draft_tokens=2",
            "decoding.conditional_acceptance=[0.7, 0.6]",
            "decoding.draft.work_share=0.1",
        ],
    )
    assert isinstance(scenario.decoding, Speculative)
    assert scenario.decoding.conditional_acceptance == (0.7, 0.6)


@pytest.mark.parametrize("override", ["tensor_parallel", "=4", "deployment.=4", ""])
def test_an_override_without_key_or_value_is_refused(plain: Path, override: str) -> None:
    with pytest.raises(InputError, match=r"key\.path=value"):
        load_scenario(plain, [override])


def test_an_override_below_a_value_is_refused(plain: Path) -> None:
    with pytest.raises(InputError, match=r"`model` in `model\.name` holds a value"):
        load_scenario(plain, ["model.name=x"])


@pytest.mark.parametrize(
    ("override", "near"),
    [
        ("deployment.tensor_paralel=2", "tensor_parallel"),
        ("deploiment.tensor_parallel=2", "deployment"),
        ("slo.ttft=100", "ttft_ms"),
        ("workload.arrivals.request_per_s=3", "requests_per_s"),
        ("run.request=10", "requests"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_one(
    plain: Path, override: str, near: str
) -> None:
    with pytest.raises(InputError, match=f"is not a key here; did you mean `{near}`") as caught:
        load_scenario(plain, [override])
    assert override in str(caught.value)  # it stands in no file, so say where it came from


@pytest.mark.parametrize(
    ("override", "says"),
    [
        ("deployment.tensor_parallel=0", "greater than or equal to 1"),
        ("deployment.tensor_parallel=two", "valid integer"),
        ("deployment.weights=fp4", "'checkpoint'"),
        ("run.seed=-1", "greater than or equal to 0"),
        ("decoding.name=telepathy", "autoregressive"),
        ("workload.arrivals.kind=never", "poisson"),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_what_is_allowed(
    plain: Path, override: str, says: str
) -> None:
    with pytest.raises(InputError, match=says):
        load_scenario(plain, [override])


def test_a_missing_workload_is_named(tmp_path: Path) -> None:
    path = tmp_path / "empty.yaml"
    path.write_text("model: llama-3.1-8b\nhardware: h100_sxm\n", "utf-8")
    with pytest.raises(InputError, match="`workload` is missing") as caught:
        load_scenario(path)
    assert str(path) in str(caught.value)


def test_an_unknown_scenario_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean chat-70b-h100"):
        load_scenario("chat-70b-h10")


def test_relative_paths_start_at_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, elsewhere = tmp_path / "inside", tmp_path / "elsewhere"
    inside.mkdir()
    elsewhere.mkdir()
    (inside / "config.json").write_text(json.dumps(LLAMA), "utf-8")
    (inside / "calls.csv").write_text("arrival_s,input_tokens,output_tokens\n0,10,5\n1,20,7\n")
    path = inside / "mine.yaml"
    path.write_text(
        "model: config.json\nhardware: h100_sxm\n"
        "workload: {arrivals: {kind: trace, path: calls.csv}}\n",
        "utf-8",
    )
    monkeypatch.chdir(elsewhere)
    scenario = load_scenario(path)
    serving = resolve(scenario)
    assert serving.model.total_parameters == load_model("llama-3.1-8b").total_parameters
    assert scenario.workload.draw(1, 0).output_tokens.tolist() == [5, 7]


def test_a_model_may_be_a_folder_beside_the_scenario_and_a_strategy_may_have_its_own(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "llama-3.1-8b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(LLAMA), "utf-8")
    monkeypatch.chdir(tmp_path.parent)
    diffusion = {
        "name": "block_diffusion",
        "model": "mine",
        "block_tokens": 8,
        "denoise_passes": 4,
        "what_if": True,
    }
    scenario = load_scenario(plain, ["model=mine", f"strategies=[{json.dumps(diffusion)}]"])
    assert resolve(scenario).model.name == "mine"
    assert resolve(scenario.with_decoding(scenario.strategies[0])).model.name == "mine"
    assert load_scenario(plain).model == "llama-3.1-8b"  # the name of the catalog


def test_a_trace_from_the_command_line_starts_at_the_working_folder(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "calls.csv").write_text("arrival_s,input_tokens,output_tokens\n0,10,5\n2,9,3\n")
    monkeypatch.chdir(elsewhere)
    scenario = load_scenario(plain, trace=Path("calls.csv"))
    assert isinstance(scenario.workload.arrivals, Trace)
    assert scenario.workload.draw(1, 0).input_tokens.tolist() == [10, 9]


def test_a_strategy_brings_its_own_model_along(plain: Path) -> None:
    scenario = load_scenario(plain)
    strategy = BlockDiffusion(block_tokens=8, denoise_passes=4, model="qwen3-32b", what_if=True)
    changed = scenario.with_decoding(strategy)
    assert (changed.model, changed.decoding) == ("qwen3-32b", strategy)
    assert scenario.model == "llama-3.1-8b"


def test_another_layout_is_checked_like_the_first(plain: Path) -> None:
    scenario = load_scenario(plain)
    assert scenario.with_deployment(replicas=3).deployment.gpus == 3
    with pytest.raises(InputError, match="replica"):
        scenario.with_deployment(replica=3)
