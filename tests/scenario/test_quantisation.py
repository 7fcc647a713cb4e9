"""Precision of weights and KV goes with any strategy, each on its own."""

from typing import Any

import pytest

from sim.run import run
from sim.scenario import Scenario, resolve

STRATEGIES: dict[str, dict[str, Any]] = {
    "autoregressive": {"name": "autoregressive"},
    "speculative": {
        "name": "speculative",
        "draft_tokens": 2,
        "survival": [0.7, 0.5],
        "draft": {"kind": "eagle"},
    },
    "block_diffusion": {
        "name": "block_diffusion",
        "block_tokens": 16,
        "denoise_passes": 4,
        "what_if": True,
    },
    "diffusion": {
        "name": "diffusion",
        "cache": "dual",
        "block_tokens": 16,
        "denoise_passes": 4,
        "what_if": True,
    },
}


def served(strategy: str, **deployment: Any) -> Scenario:
    return Scenario.model_validate(
        {
            "model": "llama-3.1-8b",
            "hardware": "h100_sxm",
            "deployment": {"max_sequences": 32, **deployment},
            "decoding": STRATEGIES[strategy],
            "workload": {
                "arrivals": {"kind": "closed_loop", "users": 1},
                "input_tokens": {"kind": "fixed", "tokens": 4000},
                "output_tokens": {"kind": "fixed", "tokens": 64},
            },
            "run": {"requests": 5},
        }
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_weights_and_kv_are_quantised_each_on_its_own_whatever_the_strategy(strategy: str) -> None:
    plain, kv = served(strategy), served(strategy, kv_precision="fp8")
    weights = served(strategy, weights="fp8")
    memory, times = {}, dict[str, float]()
    for name, scenario in {"plain": plain, "kv": kv, "weights": weights}.items():
        memory[name] = resolve(scenario).memory
        times[name] = run(scenario, intervals=False).metrics.latency["ttlt"].mean or 0.0
    assert memory["kv"].weight_bytes == memory["plain"].weight_bytes
    assert memory["kv"].kv_bytes_per_token == memory["plain"].kv_bytes_per_token / 2
    assert memory["weights"].kv_bytes_per_token == memory["plain"].kv_bytes_per_token
    assert memory["weights"].weight_bytes < 0.6 * memory["plain"].weight_bytes
    assert times["kv"] < times["plain"]
    assert times["weights"] < times["plain"]


def test_the_drafter_has_a_precision_of_its_own() -> None:
    own = {**STRATEGIES["speculative"], "draft": {"kind": "eagle", "weights": "fp8"}}
    plain, small = served("speculative"), served("speculative")
    small = small.model_copy(update={"decoding": type(small.decoding).model_validate(own)})
    one, two = resolve(plain).memory, resolve(small).memory
    assert two.weight_bytes == one.weight_bytes
    assert two.draft_weight_bytes < one.draft_weight_bytes
