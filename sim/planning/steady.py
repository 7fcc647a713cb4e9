"""A closed loop in its steady state: what so many users in flight get in the long run."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from sim.economics.cost import Cost, price
from sim.engine import simulate
from sim.metrics.measure import measure
from sim.metrics.quantities import rows
from sim.metrics.result import Metrics
from sim.records import Simulation
from sim.scenario import Scenario, resolve
from sim.workload import stream

TURNS_BEFORE: Final = 3
"""Answers per user that are not counted: the users begin all at once, and that must wear off."""
TURNS_AFTER: Final = 8
"""Answers per user that are drawn to keep up the load while the last counted ones finish."""


@dataclass(frozen=True, slots=True)
class Steady:
    """The metrics and, where there is a price, the bill."""

    metrics: Metrics
    cost: Cost | None


def serve_users(scenario: Scenario, users: int, requests: int) -> Steady:
    """Serve `users` with one request in flight each, and measure `requests` of them.

    Without intervals: a point of a curve is one number.

    The same as a run of a closed-loop scenario, except that its beginning and end are cut off: a
    benchmark starts all its users at once, and the wait for their prompts would hide the steady
    state behind a burst that the traffic of a service does not have.
    """
    before, after = TURNS_BEFORE * users, TURNS_AFTER * users
    serving, seed = resolve(scenario), scenario.run.seed
    gpus, strategy = scenario.deployment.gpus, scenario.decoding
    drawn = scenario.workload.with_users(users).draw(before + requests + after, seed)
    traffic = replace(drawn, measured=before + requests)
    passes = strategy.draw_passes(traffic.output_tokens, stream(seed, "acceptance"))
    simulation = simulate(traffic, passes, strategy, serving.cost, serving.limits)
    simulation = _without_ramp_up(simulation, before)
    metrics = measure(
        simulation,
        slo=scenario.slo,
        pipeline=scenario.pipeline,
        gpus=gpus,
        seed=seed,
        intervals=False,
    )
    quote = serving.quote
    return Steady(metrics, None if quote is None else price(simulation, metrics, quote, gpus))


def _without_ramp_up(simulation: Simulation, before: int) -> Simulation:
    """Turn the first `before` requests into background, which stands behind the measured ones."""
    places = np.arange(len(simulation.records))
    order = np.concatenate([places[before:], places[:before]])
    return replace(
        simulation,
        records=rows(simulation.records, order),
        measured=simulation.measured - before,
    )
