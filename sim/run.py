"""THE SPINE: a scenario in, an outcome out. Read this page first."""

from dataclasses import dataclass
from typing import Literal

from sim.cost import Usage, ridge_tokens_per_pass, usage
from sim.decoding import typical_phase
from sim.economics.cost import Cost, price
from sim.engine import simulate
from sim.metrics.measure import measure
from sim.metrics.result import Metrics
from sim.provenance import Part, not_modelled, provenance
from sim.records import Simulation, Traffic
from sim.scenario import Scenario, Serving, resolve
from sim.workload import stream


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer and all that stands behind it."""

    scenario: Scenario
    serving: Serving
    simulation: Simulation
    metrics: Metrics
    cost: Cost | None
    """None where the scenario names no price."""
    usage: Usage | None
    ridge_tokens_per_pass: int | None
    """Query positions per pass at which this deployment turns compute-bound, at the
    traffic's mean context and with as many positions a sequence as the strategy brings.
    """
    provenance: dict[str, Part]
    not_modelled: tuple[str, ...]


def run(
    scenario: Scenario, *, mode: Literal["leap", "pass"] = "leap", intervals: bool = True
) -> Outcome:
    """Serve the workload on the deployment and say how well, and for how much."""
    serving, strategy = resolve(scenario), scenario.decoding
    traffic = scenario.workload.draw(
        scenario.run.requests,
        scenario.run.seed,
        context_tokens=serving.limits.max_context_tokens,
    )
    simulation = serve(scenario, serving, traffic, mode=mode)
    metrics, cost = assess(scenario, serving, simulation, intervals=intervals)
    prompt, answer = float(traffic.input_tokens.mean()), float(traffic.output_tokens.mean())
    queries = typical_phase(strategy, prompt, answer).positions
    return Outcome(
        scenario=scenario,
        serving=serving,
        simulation=simulation,
        metrics=metrics,
        cost=cost,
        usage=usage(serving.cost, simulation.leaps),
        ridge_tokens_per_pass=ridge_tokens_per_pass(
            serving.cost, context_tokens=prompt + answer / 2, queries=queries
        ),
        provenance=provenance(scenario, serving),
        not_modelled=not_modelled(scenario),
    )


def serve(
    scenario: Scenario,
    serving: Serving,
    traffic: Traffic,
    *,
    mode: Literal["leap", "pass"] = "leap",
) -> Simulation:
    """Let the strategy draw its passes, and the engine serve them."""
    strategy = scenario.decoding
    passes = strategy.draw_passes(traffic.output_tokens, stream(scenario.run.seed, "acceptance"))
    return simulate(traffic, passes, strategy, serving.cost, serving.limits, mode=mode)


def assess(
    scenario: Scenario, serving: Serving, simulation: Simulation, *, intervals: bool
) -> tuple[Metrics, Cost | None]:
    """Measure what happened, and price it where there is a price."""
    gpus = scenario.deployment.gpus
    metrics = measure(
        simulation,
        slo=scenario.slo,
        pipeline=scenario.pipeline,
        gpus=gpus,
        seed=scenario.run.seed,
        intervals=intervals,
    )
    quote = serving.quote
    return metrics, None if quote is None else price(simulation, metrics, quote, gpus)
