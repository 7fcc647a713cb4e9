"""A closed loop in its steady state: what so many users in flight get in the long run."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Final

import numpy as np

from sim.economics.cost import Cost
from sim.metrics.quantities import rows
from sim.metrics.result import Metrics
from sim.records import Simulation
from sim.run import assess, serve
from sim.scenario import Scenario, resolve

TURNS_BEFORE: Final = 3
"""Answers per user that are not counted: the users begin all at once, and that must wear off."""
LEAST_TURNS: Final = 4
"""Answers per user that are measured at least: one or two are the luck of a few batches."""
TURNS_AFTER: Final = 8
"""Answers per user that are drawn to keep up the load while the last counted ones finish."""


@dataclass(frozen=True, slots=True)
class Steady:
    """The metrics and, where there is a price, the bill."""

    metrics: Metrics
    cost: Cost | None


def serve_users(scenario: Scenario, users: int, requests: int) -> Steady:
    """Serve `users` with one request in flight each, and measure `requests` or somewhat more.

    The same as a run of a closed-loop scenario, except that its beginning and end are cut off: a
    benchmark starts all its users at once, and the wait for their prompts would hide the steady
    state behind a burst that the traffic of a service does not have. There are no intervals: a
    point of a curve is one number.

    Users who began together go in step for long, where answers are of equal length for ever. So
    whole turns of all users are measured, at least four, each wave in full: part of one would add
    its answers without the time that they took, or the time without the answers.
    """
    requests = users * max(LEAST_TURNS, ceil(requests / users))
    before, after = TURNS_BEFORE * users, TURNS_AFTER * users
    serving = resolve(scenario)
    workload = scenario.workload.with_users(users)
    drawn = workload.draw(
        before + requests + after,
        scenario.run.seed,
        context_tokens=serving.limits.max_context_tokens,
    )
    counted = replace(drawn, measured=before + requests, warmup=None)
    simulation = serve(scenario, serving, counted)
    simulation = _without_ramp_up(simulation, before)
    return Steady(*assess(scenario, serving, simulation, intervals=False))


def _without_ramp_up(simulation: Simulation, before: int) -> Simulation:
    """Turn the first `before` requests into background, which stands behind the measured ones."""
    places = np.arange(len(simulation.records))
    order = np.concatenate([places[before:], places[:before]])
    return replace(
        simulation,
        records=rows(simulation.records, order),
        measured=simulation.measured - before,
        steady_state=True,
    )
