"""The frontier: what each decoding strategy gives per GPU at each speed of its users."""

from collections.abc import Callable, Sequence
from csv import DictWriter
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Final

from sim.planning.assumptions import assumptions, unsteady
from sim.planning.curve import Best, best_of
from sim.planning.ladder import TIE, Region, Rung, read_ladder, tie_band, winning_regions
from sim.planning.loads import check_points
from sim.planning.point import Point
from sim.planning.rounds import Plan, sweep_points
from sim.planning.strategies import Entry, entries
from sim.provenance import Part
from sim.scenario import Scenario
from sim.workload import Trace

REQUESTS: Final = 1000
"""Measured requests a point: the fewest that show a p99."""
TRACE_REQUESTS: Final = 5000
"""Rows of a trace that are replayed a point: its beginning and end are in the numbers."""


@dataclass(frozen=True)
class Frontier:
    """The answer: points, curves through them, and where the numbers come from."""

    scenario: Scenario
    entries: tuple[Entry, ...]
    """Strategies, the baseline first."""
    points: tuple[Point, ...]
    provenance: dict[str, dict[str, Part]]
    """By strategy, then by part."""
    assumptions: tuple[str, ...]
    tie: float = TIE
    """A lead below this is within the noise of one run a point, and called a tie."""
    complete: bool = True
    """False: stopped by the user, with what was computed until then."""

    @property
    def baseline(self) -> str:
        """Id of the strategy that ratios are taken to."""
        return self.entries[0].strategy

    @cached_property
    def best(self) -> dict[str, Best]:
        """Best of each strategy, by its id."""
        return {item.strategy: best_of(item.strategy, self.points) for item in self.entries}

    def label(self, strategy: str) -> str:
        """Return a strategy's name for people."""
        return next(item.label for item in self.entries if item.strategy == strategy)

    def ladder(self, speeds: Sequence[float] | None = None) -> tuple[Rung, ...]:
        """Read all strategies at user speeds [tokens/s]; by default at round ones that matter."""
        return read_ladder(self.best, self.baseline, speeds, tie=self.tie)

    def regions(self) -> tuple[Region, ...]:
        """Return which strategy gives the most per GPU at which user speeds, slow to fast."""
        return winning_regions(self.best)

    def rows(self) -> list[dict[str, str | int | float | None]]:
        """Return the points as rows of `frontier.csv`."""
        return [point.row() for point in self.points]

    def csv(self) -> str:
        """Return `frontier.csv`: one row a point, six digits, empty where there is no number."""
        text = StringIO()
        writer = DictWriter(text, list(self.points[0].row()), lineterminator="\n")
        writer.writeheader()
        for row in self.rows():
            writer.writerow(
                {
                    key: f"{value:.6g}" if isinstance(value, float) else value
                    for key, value in row.items()
                }
            )
        return text.getvalue()


def frontier(
    scenario: Scenario,
    *,
    tensor_parallel: Sequence[int] | None = None,
    points: int | None = None,
    requests: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    on_point: Callable[[int, int], None] | None = None,
) -> Frontier:
    """Sweep each strategy of a scenario over load, and over tensor parallelism if asked.

    The load is a closed loop whatever the scenario's arrivals: so many users with one request in
    flight each, in doubling steps (or `points` steps) from 1 to what a replica holds, with the
    scenario's lengths. It is the one load that any deployment can bear, so no point is lost to
    overload, and it is measured in its steady state. Replicas are independent and alike, so one is
    simulated; `users` and `requests_per_s` are for all of them. A trace brings its own arrivals:
    it is replayed at rates up to just beyond the capacity, on the whole deployment.

    Where a target stops a curve between two loads, a second round looks closer, so that no
    strategy pays for the coarseness of the steps.

    `tensor_parallel` lists widths; replicas are adjusted so that no more GPUs are used than the
    scenario has (at least one replica). `requests` are those measured a point. The targets on TTFT
    and on the longest gap decide which points count. `on_point` is told (done, all). The same seed
    gives the same bytes, whatever the `workers`.
    """
    check_points(points)
    if seed is not None:
        settings = scenario.run.model_copy(update={"seed": seed})
        scenario = scenario.model_copy(update={"run": settings})
    compared = entries(scenario)
    count = requests or (TRACE_REQUESTS if _is_trace(scenario) else REQUESTS)
    widths = tuple(dict.fromkeys(tensor_parallel or (scenario.deployment.tensor_parallel,)))
    plan = Plan()
    for item in compared:
        for width in widths:
            plan.add(item.strategy, _laid_out(scenario.with_decoding(item.decoding), width))
    found, complete = sweep_points(plan, count, points, workers=workers, on_point=on_point)
    return Frontier(
        scenario=scenario,
        entries=compared,
        points=found,
        provenance=plan.provenance,
        assumptions=(*assumptions(scenario, compared, count), *unsteady(found)),
        tie=tie_band(count),
        complete=complete,
    )


def _is_trace(scenario: Scenario) -> bool:
    return isinstance(scenario.workload.arrivals, Trace)


def _laid_out(scenario: Scenario, width: int) -> Scenario:
    """Return the scenario with another width on the GPUs that it has."""
    # A width below 1 is refused by the deployment, in its own words.
    replicas = max(1, scenario.deployment.gpus // max(1, width))
    return scenario.with_deployment(tensor_parallel=width, replicas=replicas)
