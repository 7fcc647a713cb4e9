"""THE SPINE: a scenario in, an outcome out. Read this page first."""

from dataclasses import dataclass
from typing import Literal

from sim.cost import Usage, ridge_tokens_per_pass, usage
from sim.decoding import typical_phase
from sim.economics.cost import Cost, price
from sim.engine import simulate
from sim.hardware.uncertainty import LogError
from sim.metrics.measure import measure
from sim.metrics.places import waiting, waits_at_p99
from sim.metrics.result import Metrics
from sim.metrics.work import Work
from sim.provenance import Part, not_modelled, provenance
from sim.records import IntArray, Simulation, Traffic
from sim.scenario import Scenario, Serving, resolve
from sim.workload import Trace, draw_domains, stream


@dataclass(frozen=True, slots=True)
class Reached:
    """How precise a figure is: half its 90 % interval of sampling over the figure."""

    metric: str
    asked: float
    half_width: float | None
    """`None`: there is no interval, so nothing is known."""
    met: bool


@dataclass(frozen=True, slots=True)
class Replications:
    """The metrics are those of so many runs together, with the seeds from `first_seed` on."""

    runs: int
    first_seed: int
    precision: Reached | None
    """`None` where none was asked for."""
    work: Work
    """Of all runs together."""
    stopped_of: int | None = None
    """Runs that were planned when the user stopped; `None`: nobody did."""


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
    replications: Replications | None = None
    """`None`: one run. Else records and leaps are those of the first one; `usage` is over all."""
    log_error: LogError | None = None
    """Of the calibration; `None` where it is not in the intervals."""

    @property
    def work(self) -> Work:
        """What engines did, in all runs together."""
        if self.replications is not None:
            return self.replications.work
        return Work.of(self.simulation, self.metrics)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers must know: of the settings, and of the run."""
        workload, done, said = self.scenario.workload, self.replications, tuple[str, ...]()
        if done is not None and done.stopped_of is not None:
            said = (f"interrupted after {done.runs} of {done.stopped_of} seeds",)
        cautions = self.scenario.decoding.cautions(workload.mean_tokens()[1])
        times = workload.arrivals.cautions() if isinstance(workload.arrivals, Trace) else ()
        return (*said, *cautions, *times, *self.metrics.notes, *self._waiting())

    def _waiting(self) -> tuple[str, ...]:
        """Say where the slowest requests wait for a place or for KV, though all keep up."""
        metrics, limits = self.metrics, self.serving.limits
        if metrics.status == "overloaded":
            return ()  # the answer says it
        places = limits.max_sequences * limits.replicas
        waited = waits_at_p99(self.simulation, places, metrics.warmup_requests)
        return () if waited is None else (waiting(waited, limits.max_sequences),)


def run(
    scenario: Scenario, *, mode: Literal["leap", "pass"] = "leap", intervals: bool = True
) -> Outcome:
    """Serve the workload on the deployment and say how well, and for how much."""
    serving, strategy = resolve(scenario), scenario.decoding
    traffic = draw(scenario, serving, scenario.run.requests)
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
        usage=usage(serving.cost, simulation.leaps, lanes=serving.limits.lanes),
        ridge_tokens_per_pass=ridge_tokens_per_pass(
            serving.cost, context_tokens=prompt + answer / 2, queries=queries
        ),
        provenance=provenance(scenario, serving),
        not_modelled=not_modelled(scenario),
    )


def draw(scenario: Scenario, serving: Serving, requests: int) -> Traffic:
    """Draw the traffic of a run: so many requests, unless the workload brings its own."""
    limit = serving.limits.max_context_tokens
    return scenario.workload.draw(requests, scenario.run.seed, context_tokens=limit)


def serve(
    scenario: Scenario,
    serving: Serving,
    traffic: Traffic,
    *,
    passes: IntArray | None = None,
    mode: Literal["leap", "pass"] = "leap",
) -> Simulation:
    """Let the strategy draw its passes, unless they are given, and the engine serve them."""
    if passes is None:
        passes = draw_passes(scenario, traffic)
    return simulate(
        *(traffic, passes, scenario.decoding, serving.cost, serving.limits),
        draft_cost=serving.draft_cost,
        mode=mode,
        seed=scenario.run.seed,
    )


def draw_passes(scenario: Scenario, traffic: Traffic) -> IntArray:
    """Let the strategy draw how many passes each answer takes."""
    seed = scenario.run.seed
    domains = draw_domains(scenario.workload.domains, len(traffic), seed)
    rng = stream(seed, "acceptance")
    return scenario.decoding.draw_passes_of(traffic.output_tokens, *domains, rng)


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
