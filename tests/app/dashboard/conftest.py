"""One short run that the tests of words and tiles share."""

import sys

import pytest

from sim.run import Outcome, run
from sim.scenario import load_scenario


@pytest.fixture(autouse=True)
def _main_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the main module back: Streamlit leaves the page there, and every process that a later
    test starts would import it.
    """
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(scope="session")
def outcome() -> Outcome:
    """Fixed lengths on one small model: quick, and every metric exists."""
    changes = (
        "model=llama-3.1-8b",
        "hardware=h100_sxm",
        "deployment.tensor_parallel=1",
        "deployment.replicas=2",
        "workload.arrivals.requests_per_s=10",
        "workload.input_tokens.kind=fixed",
        "workload.input_tokens.tokens=256",
        "workload.output_tokens.kind=fixed",
        "workload.output_tokens.tokens=32",
        "run.requests=1200",
    )
    return run(load_scenario("chat-70b-h100", changes))
