"""Write the golden outcomes anew: python tests/golden/regenerate.py (then look at the difference).

A golden file freezes what the simulator says, so that no change of it goes unseen. It proves
nothing: `test_golden.py` holds laws against the very same runs.
"""

import json
from pathlib import Path
from typing import Any

import yaml

from sim.report.document import outcome_document
from sim.run import Outcome, run
from sim.scenario import build_scenario

HERE = Path(__file__).parent
DIGITS = 9
"""Fewer than a number has: the last ones differ between processors and libraries."""
STRATEGIES = {
    "autoregressive": {"name": "autoregressive"},
    "speculative": {
        "name": "speculative",
        "draft_tokens": 3,
        "conditional_acceptance": [0.70, 0.65, 0.60],
        "draft": {"work_share": 0.14},
        "source": "illustrative",
    },
    "block_diffusion": {
        "name": "block_diffusion",
        "block_tokens": 32,
        "denoise_passes": 8,
        "what_if": True,
    },
}
WORKLOADS: dict[str, dict[str, Any]] = {
    "two_classes": {
        "arrivals": {
            "kind": "bursts",
            "requests_per_s": 25,
            "factor": 3,
            "every_s": 5,
            "lasting_s": 1,
        },
        "classes": [
            {"name": "chat", "share": 0.75, "priority": 0, "shared_prefix_tokens": 64},
            {
                "name": "batch",
                "share": 0.25,
                "priority": 1,
                "input_tokens": {"kind": "uniform", "low": 1024, "high": 2048},
                "output_tokens": {"kind": "uniform", "low": 64, "high": 128},
            },
        ],
    },
    "sessions": {
        "arrivals": {"kind": "closed_loop", "users": 48, "think_s": 0.5, "think": "exponential"},
        "sessions": {
            "turns": {"kind": "uniform", "low": 1, "high": 4},
            "think_s": 0.25,
            "max_context_tokens": 3000,
        },
    },
}
"""Parts of the workload that stand in place of the scenario's, decoded autoregressively."""
# Lengths are whole numbers on a grid and the KV pool is tight: no draw hangs on a last digit, and
# preemption and chunked prefill take part.
SCENARIO = """
name: golden
model: llama-3.1-8b
hardware: h100_sxm
deployment:
  tensor_parallel: 2
  replicas: 2
  weights: fp8
  kv_precision: fp8
  max_sequences: 24
  max_batched_tokens: 1024
  num_gpu_blocks: 480
workload:
  arrivals: {kind: poisson, requests_per_s: 30}
  input_tokens: {kind: uniform, low: 256, high: 1280}
  output_tokens: {kind: uniform, low: 64, high: 192}
slo: {ttft_ms: 300, tpot_ms: 15, attainment: 0.9, ttlt_p90_ms: 3000}
pipeline: {network_rtt_ms: 30, gateway_ms: 5, tokenise_ms: 2, detokenise_ms: 2}
prices: {usd_per_gpu_hour: 2.0, source: a round figure, as_of: undated}
run: {requests: 1000, seed: 0}
"""


def golden_outcome(name: str) -> Outcome:
    """Run the golden scenario with one of the strategies, or with one of the workloads."""
    content = yaml.safe_load(SCENARIO)
    if name in STRATEGIES:
        content["decoding"] = STRATEGIES[name]
    else:
        content["workload"] |= WORKLOADS[name]
    if name == "two_classes":
        content["slo"]["classes"] = {"batch": {"ttlt_ms": 8000, "attainment": 0.9}}
    return run(build_scenario(content, where="golden", folder=HERE))


def golden_text(outcome: Outcome) -> str:
    """Return what is frozen of an outcome: all but the version of the program."""
    document = outcome_document(outcome)
    del document["paretoken"]
    return json.dumps(rounded(document), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def rounded(value: Any) -> Any:
    """Return a document with every number cut to the digits that count."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def golden_path(name: str) -> Path:
    """Return the file of a strategy or a workload."""
    return HERE / f"{name}.json"


def main() -> None:
    """Write every file and say what became of it."""
    for name in (*STRATEGIES, *WORKLOADS):
        path, text = golden_path(name), golden_text(golden_outcome(name))
        before = path.read_text("utf-8") if path.exists() else None
        path.write_text(text, "utf-8")
        print(f"{path.name}: {'as before' if text == before else 'written anew'}")


if __name__ == "__main__":
    main()
