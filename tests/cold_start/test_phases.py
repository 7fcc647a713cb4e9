"""Phases against the measurements that the assumptions come from, and by hand."""

from pathlib import Path
from typing import Any

import pytest

from sim.cold_start import ColdFacts, ColdStart, load_assumptions, phases, total
from sim.errors import InputError, UnknownNameError

GENERIC = load_assumptions("generic")
LLAMA_8B = ColdFacts(weight_bytes=16.06e9, layers=32, machines=1)
"""In 16 bits: 8.03 billion parameters."""
SERVER_ONLY: dict[str, Any] = {"provision_s": 0, "image_gb": 0}
GP3, IO2 = 1.0737, 4.295
"""Volumes of 1 and 4 GiB/s."""


def ready_s(facts: ColdFacts = LLAMA_8B, **settings: Any) -> float:
    return total(phases(ColdStart.model_validate(settings), GENERIC, facts)).seconds


def weights_s(facts: ColdFacts = LLAMA_8B, **settings: Any) -> float:
    parts = phases(ColdStart.model_validate(settings), GENERIC, facts)
    return next(part.seconds for part in parts if part.name == "weights")


@pytest.mark.truth
@pytest.mark.parametrize(
    ("loader", "storage", "measured_s"),
    [
        ("safetensors", GP3, 47.99),
        ("safetensors", IO2, 47.0),
        ("streamer", GP3, 14.34),
        ("streamer", IO2, 7.53),
        ("tensorizer", GP3, 16.11),
        ("tensorizer", IO2, 10.36),
    ],
)
def test_weights_load_as_fast_as_was_measured(
    loader: str, storage: float, measured_s: float
) -> None:
    """Llama-3-8B from two volumes (run-ai/runai-model-streamer, benchmarks, appendix A-C)."""
    found = weights_s(loader=loader, storage_gb_per_s=storage)
    assert found == pytest.approx(measured_s, rel=0.08)


@pytest.mark.truth
@pytest.mark.parametrize(("loader", "measured_s"), [("safetensors", 66.13), ("streamer", 35.08)])
def test_a_server_without_compiler_is_ready_as_soon_as_was_measured(
    loader: str, measured_s: float
) -> None:
    """vLLM with the same model and volume (the same source, appendix D), which was not fitted."""
    found = ready_s(loader=loader, storage_gb_per_s=GP3, compile_s=0, **SERVER_ONLY)
    assert found == pytest.approx(measured_s, rel=0.1)


def test_phases_add_up_and_their_bounds_too() -> None:
    parts = phases(ColdStart(), GENERIC, LLAMA_8B)
    whole = total(parts)
    assert whole.seconds == pytest.approx(sum(part.seconds for part in parts))
    assert [part.name for part in parts] == [
        "provision", "image pull", "weights", "engine init", "compile", "graph capture", "warm-up",
    ]  # fmt: skip
    for part in (*parts, whole):
        assert 0 <= part.low_s <= part.seconds <= part.high_s
        assert part.source


def test_the_slower_of_storage_and_loader_decides() -> None:
    slow = weights_s(loader="streamer", storage_gb_per_s=0.5)
    assert slow == pytest.approx(16.06 / 0.5)
    given = weights_s(loader="streamer", storage_gb_per_s=100, loader_gb_per_s=8)
    assert given == pytest.approx(16.06 / 8)
    # What is in memory is not read from storage.
    cached = weights_s(loader="page_cache", storage_gb_per_s=0.01)
    assert cached == pytest.approx(16.06 / 7.06, rel=1e-3)


def test_machines_read_their_shares_side_by_side_and_layers_are_compiled_in_turn() -> None:
    two = ColdFacts(weight_bytes=16.06e9, layers=32, machines=2)
    assert weights_s(two) == pytest.approx(weights_s() / 2)
    deep = ColdFacts(weight_bytes=16.06e9, layers=64, machines=1)
    assert ready_s(deep) - ready_s() == pytest.approx(32 * 0.605)


def test_what_is_given_has_no_bounds_but_itself() -> None:
    settings = ColdStart(provision_s=30, warm_up_s=2, image_gb=0, storage_gb_per_s=1)
    by_name = {part.name: part for part in phases(settings, GENERIC, LLAMA_8B)}
    for name, seconds in {"provision": 30, "warm-up": 2, "image pull": 0}.items():
        part = by_name[name]
        assert (part.low_s, part.seconds, part.high_s) == (seconds, seconds, seconds)
    assert by_name["provision"].source == "given by the scenario"


def test_a_file_of_your_own_is_checked(tmp_path: Path) -> None:
    shipped = Path(str(load_assumptions.__globals__["FOLDER"])) / "generic.yaml"
    path = tmp_path / "mine.yaml"
    path.write_text(shipped.read_text("utf-8").replace("value: 60", "value: 700"), "utf-8")
    with pytest.raises(InputError, match="not between 0 and 600"):
        load_assumptions(path)
    path.write_text(shipped.read_text("utf-8").replace("low: 0.1\n", "low: 0\n"), "utf-8")
    with pytest.raises(InputError, match="above 0"):
        load_assumptions(path)
    with pytest.raises(UnknownNameError):
        load_assumptions("no-such-set")
