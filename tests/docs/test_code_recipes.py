"""What the recipes tell people to write does what they say."""

import json
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.records import Traffic
from sim.report import files
from sim.run import run
from sim.scenario import build_scenario, load_scenario
from tests.engine.test_protocol import FullSequence as Proven
from tests.laws.building import a_cost

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")


def snippet(named: str) -> str:
    """Return the block of the recipes whose first line names this file."""
    found = re.search(
        rf"^```\w+\n# {re.escape(named)}.*?\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE
    )
    assert found is not None, named
    return found.group(1)


def executed(named: str) -> Any:
    """Return a module made of a block of Python."""
    module = types.ModuleType(Path(named).stem)
    exec(compile(snippet(named), named, "exec"), module.__dict__)
    return module


def test_the_scenario_of_the_recipe_runs(tmp_path: Path) -> None:
    content = yaml.safe_load(snippet("support-8b.yaml"))
    outcome = run(build_scenario(content, where="recipe", folder=tmp_path))
    assert outcome.metrics.status == "ok"
    lengths = outcome.simulation.records.output_tokens
    assert np.median(lengths) == pytest.approx(150, rel=0.1)
    assert lengths.max() <= 1200


def test_a_preset_computed_by_the_recipe_draws_traffic_like_the_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    recorded = rng.integers(50, 1000, (2000, 2)).tolist()
    arrivals = np.cumsum(rng.exponential(0.5, 2000)).tolist()
    rows = [
        f"{at},{prompt},{answer}" for at, (prompt, answer) in zip(arrivals, recorded, strict=True)
    ]
    Path("traffic.csv").write_text("\n".join(["arrival_s,input_tokens,output_tokens", *rows]))
    executed("summarise.py")
    workload = yaml.safe_load(snippet("a scenario's workload"))
    content = {"model": "llama-3.1-8b", "hardware": "h100_sxm", **workload}
    Path("mine.yaml").write_text(yaml.safe_dump(content))
    drawn = load_scenario("mine.yaml").workload.draw(2000, seed=1)
    # 2,000 uniform lengths: a standard error of 1.2 % of their mean, in the recording and here.
    assert drawn.input_tokens.mean() == pytest.approx(525, rel=0.06)
    assert drawn.output_tokens.max() < 1000


def test_a_table_of_acceptance_of_the_recipe_mixes_its_domains(tmp_path: Path) -> None:
    (tmp_path / "my-drafter.yaml").write_text(snippet("my-drafter.yaml"))
    content = yaml.safe_load(snippet("support-8b.yaml"))
    content["workload"]["domains"] = {"chat": 0.5, "code": 0.5}
    content["decoding"] = {
        "name": "speculative",
        "table": "my-drafter.yaml",
        "draft_tokens": 4,
        "policy": {"kind": "adaptive", "confidence_concentration": 1.4},
    }
    content["run"] = {"requests": 100}
    outcome = run(build_scenario(content, where="recipe", folder=tmp_path))
    chat, code = 1 + 0.72 + 0.49 + 0.33 + 0.21, 3.4
    tokens_per_pass = outcome.scenario.decoding.mean_tokens_per_pass()
    assert tokens_per_pass == pytest.approx(2 / (1 / chat + 1 / code))
    assert "example.com/my-measurement" in outcome.provenance["decoding"].source


def test_the_strategy_of_the_recipe_is_the_one_that_the_engine_was_proven_on() -> None:
    strategy = executed("sim/decoding/full_sequence.py").FullSequence
    for prompt, answer, passes in [(100, 60, 1), (7, 1, 5), (900, 300, 64)]:
        whole = strategy(block_tokens=answer, denoise_passes=passes)
        assert whole.plan(prompt, answer, passes) == Proven(passes).plan(prompt, answer, passes)
    blocks = strategy(block_tokens=64, denoise_passes=16)
    assert blocks.draw_passes(np.array([100]), np.random.default_rng(0)).tolist() == [32]
    plan = blocks.plan(200, 100, 32)
    assert (plan.peak_positions, plan.peak_kv_tokens) == (328, 0)
    assert (plan.visible_tokens, plan.chunks) == (100, 2)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program to which the strategy was added as the recipe says."""
    copy = tmp_path_factory.mktemp("checkout")
    for package in ("app", "hardware_profiles", "sim"):
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    name = "sim/decoding/full_sequence.py"
    (copy / name).write_text(snippet(name), "utf-8")
    union = copy / "sim" / "decoding" / "__init__.py"
    imported, _, replaced = snippet("sim/decoding/__init__.py").partition("\n\n")
    text, places = re.subn(
        r"^AnyStrategy = .*?\]\n",
        replaced,
        union.read_text("utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
    assert places == 1
    first = "from sim.decoding.plan import"
    union.write_text(text.replace(first, f"{imported}\n{first}", 1), "utf-8")
    (copy / "canvas.yaml").write_text(snippet("canvas.yaml"), "utf-8")
    return copy


def test_one_file_and_one_name_make_a_strategy(checkout: Path) -> None:
    program = "from app.cli.main import execute\n"
    for command in ("run", "explain"):
        program += f"execute(['{command}', 'canvas.yaml', '--json'])\n"
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=checkout, capture_output=True, text=True, check=True
    )
    decoder, place = json.JSONDecoder(), 0
    outcome, place = decoder.raw_decode(ran.stdout)
    explained, _ = decoder.raw_decode(ran.stdout[place:].lstrip())
    latency = outcome["latency"]
    # 100 tokens: a block of 64 and one of 36, seen after 16 and 32 passes that are all alike.
    assert latency["ttlt_ms"]["mean"] == pytest.approx(2 * latency["ttft_ms"]["mean"])
    assert outcome["provenance"]["decoding"] == {
        "origin": "assumed",
        "source": "denoise passes per block: given",
        "error": None,
    }
    assert outcome["utilisation"]["kv_peak"] == 0
    # One sequence: 200 + 64 + 64 positions.
    assert explained["decode_pass"]["positions"] == 328


def test_the_scheduler_of_the_recipe_lets_prompts_in_by_groups() -> None:
    settings = executed("sim/engine/schedulers/in_groups.py").InGroupsSettings(group=3)
    cost, rows = a_cost(), 10
    room = Limits(1, 64, 8192, KvShape(1 << 16, 16), 1 << 16, scheduler=settings)
    arrival_s = np.array([0.0, *(0.01 + 0.0203 * np.arange(rows - 1))])
    asked = Traffic(arrival_s, np.full(rows, 100), np.full(rows, 400), measured=rows)
    leap, step = (
        simulate(asked, np.full(rows, 399), Autoregressive(), cost, room, mode=mode).records
        for mode in ("leap", "pass")
    )
    assert leap.last_token_s == pytest.approx(step.last_token_s, rel=1e-9)
    admitted = leap.admitted_s
    assert admitted[0] == 0.0
    for first in (1, 4, 7):  # three at a time, when the third is there
        assert len(set(admitted[first : first + 3])) == 1
        assert admitted[first] >= arrival_s[first + 2]


def test_the_keys_of_the_recipes_are_keys_of_a_scenario(tmp_path: Path) -> None:
    content: dict[str, Any] = {
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        **yaml.safe_load(snippet("a scenario's scheduler")),
        **yaml.safe_load(snippet("a scenario's engine")),
        "workload": yaml.safe_load(snippet("canvas.yaml"))["workload"],
        "run": {"requests": 20},
    }
    outcome = run(build_scenario(content, where="recipe", folder=tmp_path))
    assert outcome.metrics.requests.finished == 20
    assert "hold_passes" in outcome.provenance["engine"].source


def test_an_exporter_of_the_recipe_is_written_with_the_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    latency_csv: Callable[..., bytes] = executed("sim/report/latency_csv.py").latency_csv
    added = eval(f"{{{snippet('sim/report/files.py')}}}", {"latency_csv": latency_csv})
    monkeypatch.setattr(files, "FILES", {**files.FILES, **added})
    outcome = run(load_scenario("bench-8b-a100", ["run.requests=200"]))
    files.write_outcome(outcome, tmp_path)
    head, *rows = (tmp_path / "latency.csv").read_text("utf-8").splitlines()
    assert head == "latency,p50_ms,p90_ms,p99_ms"
    shown = {row.partition(",")[0]: row.split(",")[1:] for row in rows}
    assert shown.keys() == outcome.metrics.latency.keys()
    median = outcome.metrics.latency["ttft"].p50
    assert shown["ttft"] == [f"{(median or 0) * 1000:.3f}", shown["ttft"][1], ""]  # 200: no p99
