"""One answer from as many runs as it takes: seeds of their own, and times that may be off.

`run` is one run of one seed. Here the interval is made whole: replications say what luck does,
the same runs with longer and shorter times what the calibration does.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final, cast

from sim.cost import Usage, usage, usage_of_all
from sim.economics.cost import Cost, of_all
from sim.errors import InputError
from sim.hardware.uncertainty import LogError, log_error
from sim.metrics.calibration_share import Off, factors, with_calibration
from sim.metrics.replicated import Replication, pool, replication
from sim.metrics.result import Metrics
from sim.metrics.stretch import later, sooner
from sim.metrics.work import Work
from sim.planning.off_in_part import first_requests, off_in_part
from sim.planning.precision import first_runs, more_runs, reached
from sim.planning.sweep import workers_for
from sim.processes import Failed, Interrupted, map_tasks
from sim.provenance import CALIBRATION_LEFT_OUT, Part
from sim.run import Outcome, Replications, assess, draw, run, serve
from sim.scenario import Scenario, resolve
from sim.workload import Trace

AS_PREDICTED: Final = 1.0

OnRuns = Callable[[int, int], None]
"""Told how many runs are done, and of how many that are planned so far."""


@dataclass(frozen=True, slots=True)
class _Task:
    """One run: a seed, and the factor by which all times are longer than predicted."""

    scenario: Scenario
    seed: int
    factor: float = AS_PREDICTED


@dataclass(frozen=True, slots=True)
class _Run:
    """What comes back from a process."""

    replication: Replication
    cost: Cost | None
    work: Work
    usage: Usage | None


def run_thoroughly(
    scenario: Scenario, *, on_runs: OnRuns | None = None, workers: int | None = None
) -> Outcome:
    """Return the outcome of a scenario with the whole interval of each figure.

    `run.seeds` and `run.precision` of the scenario say how many runs there are; one if they are
    silent. Records, leaps and what is derived from them are those of the first seed. Ctrl-C after
    the first of several leaves the outcome of those that are done (`Replications.stopped_of`).
    """
    settings = scenario.run
    several = settings.seeds is not None or settings.precision is not None
    is_trace = isinstance(scenario.workload.arrivals, Trace)
    if settings.seeds is not None and settings.seeds > 1 and is_trace:
        raise InputError(
            "a trace happened once and cannot be replicated: its interval comes from blocks of it",
            where="run.seeds",
            remedy="remove it, or draw the traffic from a preset made of the trace",
        )
    outcome = run(scenario)
    if several and not is_trace:
        outcome = _replicated(outcome, on_runs, workers)
    elif settings.precision is not None:
        found = reached(scenario, outcome.metrics)
        one = Replications(1, settings.seed, found, outcome.work)
        outcome = replace(outcome, replications=one)
    try:
        return outcome if _stopped(outcome) else _calibrated(outcome, workers)
    except KeyboardInterrupt:
        if outcome.replications is None or outcome.replications.runs == 1:
            raise
        # All seeds are done; only what the calibration adds to their intervals is not.
        done = outcome.replications
        return replace(outcome, replications=replace(done, stopped_of=done.runs))


def _stopped(outcome: Outcome) -> bool:
    return outcome.replications is not None and outcome.replications.stopped_of is not None


def _replicated(outcome: Outcome, on_runs: OnRuns | None, workers: int | None) -> Outcome:
    """Add runs to the first one, until they are as many or as precise as asked."""
    scenario = outcome.scenario
    first = replication(
        outcome.simulation, outcome.metrics, slo=scenario.slo, pipeline=scenario.pipeline
    )
    runs = [_Run(first, outcome.cost, outcome.work, outcome.usage)]
    wanted, stopped_of = first_runs(scenario), None
    while True:
        tasks = [_task(scenario, number) for number in range(len(runs), wanted)]
        try:
            runs += _done(tasks, workers, on_runs, before=len(runs))
        except Interrupted as stopped:
            stopped_of = wanted
            runs += _without_a_gap(stopped.results)
        metrics = pool([one.replication for one in runs], slo=scenario.slo, seed=scenario.run.seed)
        found = reached(scenario, metrics)
        # No number of runs gives an overloaded deployment a latency.
        settled = found is None or found.met or metrics.status == "overloaded"
        more = 0 if settled or found is None else more_runs(scenario, found, len(runs))
        if not more or stopped_of is not None:
            break
        wanted = len(runs) + more
    work = Work.of_all([one.work for one in runs])
    said = Replications(len(runs), scenario.run.seed, found, work, stopped_of)
    used = usage_of_all([one.usage for one in runs if one.usage is not None])
    return replace(
        outcome, metrics=metrics, cost=_cost(runs, metrics), usage=used, replications=said
    )


def _without_a_gap(results: Sequence[object]) -> Iterator[_Run]:
    """Return the runs of the seeds up to the first that is missing.

    So `--seeds` with their number gives the same, and none is in it because it was quick.
    """
    done = takewhile(lambda one: isinstance(one, _Run), results)
    return cast("Iterator[_Run]", done)


def _task(scenario: Scenario, number: int, factor: float = AS_PREDICTED) -> _Task:
    """Return the run of one more seed; seeds that follow each other give streams of their own."""
    seed = scenario.run.seed + number
    if seed >= 2**31:
        raise InputError(
            f"{number + 1} seeds from {scenario.run.seed} on end beyond {2**31 - 1}",
            where="run.seeds",
            remedy="use a smaller `run.seed`",
        )
    return _Task(scenario, seed, factor)


def _done(
    tasks: Sequence[_Task], workers: int | None, on_runs: OnRuns | None, *, before: int = 0
) -> list[_Run]:
    """Run the tasks, in processes where that pays; raise if one of them has no answer."""
    if not tasks:
        return []
    if workers is None:
        workers = workers_for(len(tasks), len(tasks) * tasks[0].scenario.run.requests)
    tell = None if on_runs is None else (lambda done: on_runs(before + done, before + len(tasks)))
    found = map_tasks(_serve, tasks, workers, on_result=tell)
    for one in found:
        if isinstance(one, Failed):
            raise InputError(one.problem)
    return [one for one in found if not isinstance(one, Failed)]


def _serve(task: _Task) -> _Run:
    """Serve one seed, with times that are longer by a factor, and keep what is pooled."""
    settings = task.scenario.run.model_copy(update={"seed": task.seed})
    scenario = task.scenario.model_copy(update={"run": settings})
    serving = resolve(scenario)
    traffic = draw(scenario, serving, settings.requests)
    if task.factor == AS_PREDICTED:
        simulation = serve(scenario, serving, traffic)
    else:
        simulation = later(serve(scenario, serving, sooner(traffic, task.factor)), task.factor)
    metrics, cost = assess(scenario, serving, simulation, intervals=False)
    kept = replication(simulation, metrics, slo=scenario.slo, pipeline=scenario.pipeline)
    used = None  # with other times it would be that of another machine
    if task.factor == AS_PREDICTED:
        used = usage(serving.cost, simulation.leaps, lanes=serving.limits.lanes)
    return _Run(kept, cost, Work.of(simulation, metrics), used)


def _cost(runs: Sequence[_Run], metrics: Metrics) -> Cost | None:
    costs = [one.cost for one in runs if one.cost is not None]
    return of_all(costs, metrics) if costs else None


def _calibrated(outcome: Outcome, workers: int | None) -> Outcome:
    """Widen the intervals by the error of the calibration, where the profile states one."""
    fitted = outcome.serving.fitted
    own = frozenset[str]() if fitted.own is None else fitted.own.parts
    error = log_error(fitted.error, outcome.serving.cost.fits_used, own)
    if error is None:
        said = f"{CALIBRATION_LEFT_OUT} (its profile states no held-out error)"
        return _saying(outcome, None, said)
    both = factors(error.sigma)
    first = first_requests(outcome)
    off = None if first is None else off_in_part(outcome, first, both)
    if off is None:
        first, off = None, _off(outcome, both, workers)
    metrics = with_calibration(outcome.metrics, off)
    cost = None if outcome.cost is None else of_all([outcome.cost], metrics)
    return _saying(replace(outcome, metrics=metrics, cost=cost), error, None, first)


def _off(outcome: Outcome, both: tuple[float, float], workers: int | None) -> Off:
    """Serve all requests of all runs with the times shorter and longer."""
    scenario = outcome.scenario
    runs = 1 if outcome.replications is None else outcome.replications.runs
    tasks = [_task(scenario, number, factor) for factor in both for number in range(runs)]
    done = [one.replication for one in _done(tasks, workers, None)]
    parts = done[:runs], done[runs:]
    pooled = [
        part[0].metrics if runs == 1 else pool(part, slo=scenario.slo, seed=scenario.run.seed)
        for part in parts
    ]
    return Off(*pooled)


def _saying(
    outcome: Outcome, error: LogError | None, missing: str | None, first: int | None = None
) -> Outcome:
    """Return the outcome with a word on which part of its intervals is which."""
    rest = [one for one in outcome.not_modelled if not one.startswith(CALIBRATION_LEFT_OUT)]
    if error is None:
        return replace(outcome, not_modelled=(*([missing] if missing else []), *rest))
    shown = "" if first is None else f", as the first {first:,} requests show"
    part = Part(
        "calibrated" if outcome.serving.fitted.origin != "measured" else "measured",
        "`interval_*`: sampling alone; `..._with_calibration`: and all times off together by"
        f" -/+ 1.645 x {error.sigma:.1%}, the shared log error of the kernels ({error.basis})"
        f"{shown}",
    )
    return replace(
        outcome,
        provenance={**outcome.provenance, "intervals": part},
        not_modelled=tuple(rest),
        log_error=error,
    )
