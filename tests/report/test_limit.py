"""What an overloaded deployment runs into, and what slow requests of another one wait for."""

from pathlib import Path
from typing import Any

import pytest

from sim.report.answer import answer
from sim.run import Outcome, run
from sim.scenario import build_scenario


def outcome(
    per_s: float, lengths: tuple[int, int], deployment: dict[str, Any], kind: str = "constant"
) -> Outcome:
    content = {
        "name": "tale",
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "deployment": deployment,
        "workload": {
            "arrivals": {"kind": kind, "requests_per_s": per_s},
            "input_tokens": {"kind": "fixed", "tokens": lengths[0]},
            "output_tokens": {"kind": "fixed", "tokens": lengths[1]},
        },
        "run": {"requests": 400 if kind == "constant" else 2000},
    }
    return run(build_scenario(content, where="here", folder=Path()))


# 16 GB of weights at 3.35 TB/s are 4.8 ms a pass at least: an answer of 200 takes 0.96 s or more,
# so 4 places serve at most 4.2 requests/s, and one 1.05.
@pytest.mark.parametrize("replicas", [1, 2])
def test_taken_places_are_named_where_passes_could_hold_more(replicas: int) -> None:
    deployment = {"max_sequences": 4, "replicas": replicas}
    text = answer(outcome(6.0 * replicas, (100, 200), deployment))
    each = " of each replica" if replicas > 1 else ""
    assert f"; max_sequences is the limit (all 4 places{each} taken, the KV pool " in text


def test_a_full_kv_pool_is_named() -> None:
    # 60 blocks of 16 hold 960 tokens: three requests of 300
    text = answer(outcome(6.0, (100, 200), {"num_gpu_blocks": 60}))
    assert "; the KV pool is the limit (" in text
    assert "max_sequences" not in text


def test_passes_at_the_limit_of_arithmetic_are_named() -> None:
    # 1.3e14 FLOP a prompt: at most seven of them a second
    text = answer(outcome(40.0, (8000, 2), {}))
    assert "; bound by arithmetic" in text
    assert "is the limit" not in text


def test_waiting_for_a_place_is_noted_where_it_makes_the_p99() -> None:
    # one place, 1.0 s an answer, half of the time taken by chance: M/D/1, p99 waits some seconds
    note = "TTFT p99 is mostly waiting for a place: all 1 "
    slow = outcome(0.5, (100, 200), {"max_sequences": 1}, kind="poisson")
    assert slow.metrics.status == "ok"
    assert any(one.startswith(note) for one in slow.notes)
    roomy = outcome(0.5, (100, 200), {"max_sequences": 64}, kind="poisson")
    assert not any("waiting for" in one for one in roomy.notes)
