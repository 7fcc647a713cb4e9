"""From configurations to points: a first round over all loads, a second where targets bite."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from sim.errors import DoesNotFitError, InputError
from sim.planning.loads import (
    estimated_capacity_requests_per_s,
    most_users,
    rate_ladder,
    user_ladder,
)
from sim.planning.point import Load, Point, evaluate
from sim.planning.sweep import workers_for
from sim.processes import Failed, Interrupted, map_tasks
from sim.provenance import Part, provenance
from sim.scenario import Scenario, Serving, resolve
from sim.units import counted
from sim.workload import Trace

STEPS_AT_AN_EDGE: Final = 3
"""Loads tried between the last one that meets the targets and the first one that misses them."""


@dataclass(frozen=True, slots=True)
class _Configuration:
    strategy: str
    scenario: Scenario
    serving: Serving | None
    """`None`: it does not fit."""
    problem: str = ""

    def unfit(self) -> Point:
        """Return the one point of a configuration that does not fit."""
        deployment = self.scenario.deployment
        return Point(
            strategy=self.strategy,
            hardware=self.scenario.hardware,
            tensor_parallel=deployment.tensor_parallel,
            replicas=deployment.replicas,
            requests_per_s=None,
            users=None,
            user_tokens_per_s=None,
            output_tokens_per_s_per_gpu=None,
            output_tokens_per_usd=None,
            ttft_p99_s=None,
            max_gap_p99_s=None,
            status="does not fit",
            note=self.problem,
        )

    def loads(self, requests: int, points: int | None) -> list[Load]:
        """Return the loads of the first round, the lightest first."""
        if self.serving is None:
            return []
        load = Load(self.strategy, self.serving.gpu.name, self.scenario, requests)
        workload = self.scenario.workload
        if not isinstance(workload.arrivals, Trace):
            users = user_ladder(most_users(self.scenario, self.serving), points)
            return [replace(load, users_per_replica=number) for number in users]
        most = min(requests, workload.arrivals.max_requests or requests)
        arrivals = workload.arrivals.model_copy(update={"max_requests": most})
        shortened = self.scenario.with_workload(workload.model_copy(update={"arrivals": arrivals}))
        rows = len(shortened.workload.draw(requests, self.scenario.run.seed))
        capacity = estimated_capacity_requests_per_s(shortened, self.serving)
        return [
            replace(load, scenario=shortened, requests=rows, requests_per_s=rate)
            for rate in rate_ladder(capacity, points)
        ]


@dataclass(slots=True)
class Plan:
    """The configurations of a frontier, and the origin of each strategy's numbers."""

    configurations: list[_Configuration] = field(default_factory=list)
    provenance: dict[str, dict[str, Part]] = field(default_factory=dict)

    def add(self, strategy: str, scenario: Scenario) -> None:
        """Add a configuration; one that needs more memory than there is stays as a remark."""
        try:
            serving = resolve(scenario)
        except DoesNotFitError as error:
            self.configurations.append(_Configuration(strategy, scenario, None, str(error)))
            return
        self.provenance.setdefault(strategy, provenance(scenario, serving))
        self.configurations.append(_Configuration(strategy, scenario, serving))


def sweep_points(
    plan: Plan,
    requests: int,
    points: int | None,
    *,
    workers: int | None,
    on_point: Callable[[int, int], None] | None,
) -> tuple[tuple[Point, ...], bool]:
    """Return the points by configuration and load; the flag is False where the user stopped it."""
    if all(item.serving is None for item in plan.configurations):
        raise InputError(plan.configurations[0].problem, where="deployment")
    progress = _Progress(on_point)
    first = [item.loads(requests, points) for item in plan.configurations]
    found, complete = _round(first, workers, progress)
    for loads in first:
        found |= _no_luck(loads, found)
    if complete:
        second = [_edges(loads, found) for loads in first]
        more, complete = _round(second, workers, progress)
        first = [sorted([*a, *b], key=_size) for a, b in zip(first, second, strict=True)]
        found |= more
    for loads in first:
        found |= _no_luck(loads, found)
    placed: list[Point] = []
    for item, loads in zip(plan.configurations, first, strict=True):
        placed += [item.unfit()] if item.serving is None else []
        placed += [found[id(load)] for load in loads if id(load) in found]
    return tuple(placed), complete


class _Progress:
    """Tells how many points are done of those known so far."""

    def __init__(self, on_point: Callable[[int, int], None] | None) -> None:
        self._on_point, self._before, self._total = on_point, 0, 0

    def begin(self, count: int) -> None:
        """Take up another round."""
        self._before, self._total = self._total, self._total + count

    def __call__(self, done: int) -> None:
        if self._on_point is not None:
            self._on_point(self._before + done, self._total)


def _round(
    groups: Sequence[Sequence[Load]], workers: int | None, progress: _Progress
) -> tuple[dict[int, Point], bool]:
    """Evaluate loads; points come by the identity of their load."""
    loads = [load for group in groups for load in group]
    if workers is None:
        workers = workers_for(len(loads), sum(load.requests for load in loads))
    progress.begin(len(loads))
    complete = True
    try:
        results: Sequence[object] = map_tasks(evaluate, loads, workers, on_result=progress)
    except Interrupted as stopped:
        if not any(isinstance(result, Point) for result in stopped.results):
            raise
        results, complete = stopped.results, False
    for result in results:
        if isinstance(result, Failed):
            raise InputError(result.problem)
    pairs = zip(loads, results, strict=True)
    return {id(load): result for load, result in pairs if isinstance(result, Point)}, complete


def _size(load: Load) -> float:
    return load.users_per_replica or load.requests_per_s or 0.0


def _no_luck(loads: Sequence[Load], found: dict[int, Point]) -> dict[int, Point]:
    """Return the points that keep a target which a lighter load misses, as misses.

    Waits grow with the load, so one of the two is noise; a capacity is not built on the hope that
    it is the miss.
    """
    missed_at: str | None = None
    turned: dict[int, Point] = {}
    for load in loads:
        point = found.get(id(load))
        if point is None:
            continue
        if point.status == "misses target" and missed_at is None:
            missed_at = counted(point.users, "user") if point.users else "lower rates"
        elif missed_at is not None and point.status == "ok":
            note = f"keeps the targets, but {missed_at} do not: within the noise of one run"
            turned[id(load)] = replace(point, status="misses target", note=note)
    return turned


def _edges(loads: Sequence[Load], found: dict[int, Point]) -> list[Load]:
    """Return loads between those that meet the targets and the next heavier ones that do not."""
    edges: list[Load] = []
    for lighter, heavier in pairwise(loads):
        if found[id(lighter)].counts and not found[id(heavier)].counts:
            edges += _between(lighter, heavier)
    return edges


def _between(lighter: Load, heavier: Load) -> list[Load]:
    low, high = _size(lighter), _size(heavier)
    steps = range(1, STEPS_AT_AN_EDGE + 1)
    sizes = [low * (high / low) ** (step / (STEPS_AT_AN_EDGE + 1)) for step in steps]
    if lighter.users_per_replica is None:
        return [replace(lighter, requests_per_s=size) for size in sizes]
    users = dict.fromkeys(round(size) for size in sizes)
    return [replace(lighter, users_per_replica=number) for number in users if low < number < high]
