"""Facts behind a scenario: shared where they are the same, apart where they differ."""

import pytest

from sim.run import run
from sim.scenario import load_scenario, resolve

START = "chat-70b-h100"


def test_runs_that_differ_in_load_only_share_what_pricing_remembers() -> None:
    slow = resolve(load_scenario(START, ["workload.arrivals.requests_per_s=2"]))
    fast = resolve(load_scenario(START, ["workload.arrivals.requests_per_s=9"]))
    assert slow.cost is fast.cost


@pytest.mark.parametrize(
    "change",
    [
        "hardware=a100_sxm_80gb",
        "model=qwen3-32b",
        "deployment.weights=bf16",
        "deployment.replicas=2",
    ],
)
def test_what_prices_differently_is_kept_apart(change: str) -> None:
    assert resolve(load_scenario(START)).cost is not resolve(load_scenario(START, [change])).cost


def test_what_an_earlier_run_left_behind_changes_no_number() -> None:
    few = "run.requests=300"
    first = run(load_scenario(START, [few]))
    run(load_scenario(START, [few, "workload.arrivals.requests_per_s=30"]))
    again = run(load_scenario(START, [few]))
    assert again.metrics == first.metrics
