"""Many runs at once: in order, on all cores where that pays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sim.cost import Usage
from sim.economics.cost import Cost
from sim.metrics.result import Metrics
from sim.processes import Failed, in_worker, map_tasks, usable_cores
from sim.run import run
from sim.scenario import Scenario

WORTH_A_POOL: Final = 15_000
"""Simulated requests below which starting processes costs more than it saves."""


@dataclass(frozen=True, slots=True)
class Result:
    """What is kept of a run: the answer without the records of single requests."""

    scenario: Scenario
    metrics: Metrics
    cost: Cost | None
    usage: Usage | None
    ridge_tokens_per_pass: int | None


def run_many(
    scenarios: Sequence[Scenario],
    workers: int | None = None,
    *,
    on_result: Callable[[int], None] | None = None,
) -> list[Result | Failed]:
    """Run the scenarios and return their results in the same order, whatever the workers.

    `workers` None: one process for few or short runs, else one a core. `on_result` is told how
    many runs are done. Scripts need the usual `if __name__ == "__main__":` for workers to start.
    """
    if workers is None:
        workers = workers_for(len(scenarios), sum(item.run.requests for item in scenarios))
    return map_tasks(_summary, scenarios, workers, on_result=on_result)


def _summary(scenario: Scenario) -> Result:
    outcome = run(scenario)
    return Result(
        scenario, outcome.metrics, outcome.cost, outcome.usage, outcome.ridge_tokens_per_pass
    )


def workers_for(tasks: int, requests: int) -> int:
    """Return how many processes pay for so many tasks of so many simulated requests in all."""
    if tasks < 2 or requests < WORTH_A_POOL or in_worker():
        return 1  # and a worker starts no workers of its own
    return min(tasks, usable_cores())
