"""The calibration's share from the first requests of a run, where they tell enough.

All requests served once as predicted, and once each with longer and shorter times, take three
times as long as the answer. The differences hold hardly any noise, as requests and draws are the
same, so a quarter of the requests shows them as well: half the widths of the intervals come out
within a tenth in nine of ten cases (`tests/planning/test_off_in_part.py`), and half a width from
25 batches is itself not known better than that. Near capacity what happens to the first requests
says little of the others, nor where they wait for a place: so there, and wherever traffic is not
of one kind and one rate, all of them are served.
"""

from typing import Final

from sim.metrics.calibration_share import Off
from sim.metrics.percentiles import needed
from sim.metrics.result import Metrics
from sim.metrics.shifted import shifted, tells
from sim.metrics.stretch import later, sooner
from sim.records import Simulation
from sim.run import Outcome, assess, draw, draw_passes, serve

PARTS: Final = 4
"""The part is so large that this many make the run."""
LEAST_FIRST: Final = needed(0.99)
"""Requests of the smallest part."""
MOST_FIRST: Final = 20_000
FULL: Final = 0.9
"""Share of its places or of its KV pool from which on a replica counts as full."""


def first_requests(outcome: Outcome) -> int | None:
    """Return how many requests are to be served with other times; `None`: all of them."""
    simulation, metrics = outcome.simulation, outcome.metrics
    plain = simulation.steady_state and not simulation.closed_loop and simulation.warmup is None
    alike = not metrics.classes and not simulation.prefix_cache
    first = min(max(simulation.measured // PARTS, LEAST_FIRST), MOST_FIRST)
    pays = 2 * first <= simulation.measured and outcome.replications is None
    sessions = outcome.scenario.workload.sessions is not None
    if not (plain and alike and pays and not sessions):
        return None
    return first if _tells(simulation, metrics, outcome) else None


def _tells(simulation: Simulation, metrics: Metrics, outcome: Outcome) -> bool:
    """Tell whether a run stands for others: it has settled, and nobody waits for a place."""
    places = outcome.serving.limits.lane.max_sequences
    busiest = float(simulation.leaps.sequences.max(initial=0.0)) / places
    return tells(simulation, metrics) and max(busiest, simulation.kv_peak_share) < FULL


def off_in_part(outcome: Outcome, first: int, factors: tuple[float, float]) -> Off | None:
    """Return the metrics with shorter and longer times; `None` if the part does not tell."""
    scenario, serving = outcome.scenario, outcome.serving
    traffic = draw(scenario, serving, first)
    passes = draw_passes(scenario, draw(scenario, serving, scenario.run.requests))[: len(traffic)]
    found = list[Metrics]()
    for factor in reversed(factors):  # the longer times first: they decide
        served = serve(scenario, serving, sooner(traffic, factor), passes=passes)
        part = later(served, factor)
        if not found:
            metrics, _ = assess(scenario, serving, part, intervals=False)
            if not _tells(part, metrics, outcome):
                return None
        found.append(
            shifted(
                *(outcome.simulation, outcome.metrics, part),
                slo=scenario.slo,
                pipeline=scenario.pipeline,
            )
        )
    slower, faster = found
    return Off(faster, slower)
