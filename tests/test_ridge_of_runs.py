"""The ridge that a run reports is the one that `explain` reports."""

from pathlib import Path
from typing import Any

import pytest

from sim.cost import ridge_tokens_per_pass
from sim.report.passes import explain
from sim.run import run
from sim.scenario import Scenario, build_scenario

STRATEGIES: dict[int, dict[str, Any]] = {
    1: {"name": "autoregressive"},
    4: {
        "name": "speculative",
        "draft_tokens": 3,
        "survival": [0.7, 0.5, 0.3],
        "draft": {"work_share": 0.1},
    },
    32: {"name": "block_diffusion", "block_tokens": 32, "denoise_passes": 8, "what_if": True},
}


def scenario(decoding: dict[str, Any]) -> Scenario:
    content = {
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "decoding": decoding,
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": 4},
            "input_tokens": {"kind": "fixed", "tokens": 200},
            "output_tokens": {"kind": "fixed", "tokens": 100},
        },
        "run": {"requests": 8},
    }
    return build_scenario(content, where="test", folder=Path())


@pytest.mark.parametrize("positions", STRATEGIES)
def test_the_ridge_is_that_of_the_positions_which_the_strategy_brings(positions: int) -> None:
    asked = scenario(STRATEGIES[positions])
    outcome = run(asked)
    context = 200 + 100 / 2
    assert outcome.ridge_tokens_per_pass == ridge_tokens_per_pass(
        outcome.serving.cost, context_tokens=context, queries=positions
    )
    explained = explain(asked, sequences=4, context_tokens=context)
    assert explained.ridge_tokens_per_pass == outcome.ridge_tokens_per_pass


def test_a_block_that_reads_its_context_once_turns_compute_bound_sooner() -> None:
    alone, block = (run(scenario(STRATEGIES[positions])) for positions in (1, 32))
    assert block.ridge_tokens_per_pass is not None
    # With one position a sequence, the KV read grows with every one of them.
    assert (alone.ridge_tokens_per_pass or 1 << 20) > block.ridge_tokens_per_pass
