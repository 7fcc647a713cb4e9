"""Acceptance drift: what speculation gains as drafts are accepted less often, and where it loses.

Either every acceptance is scaled, or the mix of domains moves. The gain is that of the users: the
output tokens of all answers over the seconds that users waited for them, against one token a pass
on the same requests.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from sim.decoding import Autoregressive, Speculative
from sim.errors import InputError
from sim.records import Simulation, Status
from sim.run import serve
from sim.scenario import Scenario, resolve

SCALES: Final = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
"""Factors of acceptance that are looked at."""
STEPS: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""How far the mix has moved."""
MOST_REQUESTS: Final = 1000


@dataclass(frozen=True, slots=True)
class DriftPoint:
    """One state of the drift."""

    at: float
    """Factor of acceptance, or how far the mix has moved, 0..1."""
    tokens_per_pass: float
    first_acceptance: float
    """Share of first drafts that are accepted."""
    speed_up: float
    """User speed over that without speculation."""


@dataclass(frozen=True, slots=True)
class BreakEven:
    """Where the gain is gone, between two points of the drift."""

    at: float
    tokens_per_pass: float
    first_acceptance: float


@dataclass(frozen=True, slots=True)
class Drift:
    """Speed-up against drift."""

    scenario: Scenario
    strategy: Speculative
    moves: Mapping[str, float] | None
    """The mix of domains that the workload moves to; None: acceptance is scaled."""
    points: tuple[DriftPoint, ...]
    break_even: BreakEven | None
    """None where the gain does not cross 1."""


def drift(
    scenario: Scenario,
    *,
    to: Mapping[str, float] | None = None,
    at: Sequence[float] | None = None,
    on_point: Callable[[int, int], None] | None = None,
) -> Drift:
    """Serve the scenario without speculation, then with it at every state of the drift.

    `to` is the mix of domains that the workload moves to.
    """
    strategy = _speculation(scenario)
    if to is not None and scenario.workload.domains is None:
        raise InputError(
            "the workload has no mix of domains that could move",
            where="workload.domains",
            remedy="give their shares, or let acceptance be scaled",
        )
    requests = min(scenario.run.requests, MOST_REQUESTS)
    scenario = scenario.with_workload(scenario.workload, requests)
    base = _user_speed(scenario.with_decoding(Autoregressive()))
    states = tuple(at or (SCALES if to is None else STEPS))
    points = []
    for number, state in enumerate(states, start=1):
        moved = _moved(scenario, strategy, state, to)
        mean = moved.decoding
        if not isinstance(mean, Speculative):  # pragma: no cover - it was made so
            raise TypeError(mean.name)
        survival = mean.mean_survival()
        points.append(
            DriftPoint(state, 1.0 + sum(survival), survival[0], _user_speed(moved) / base)
        )
        if on_point is not None:
            on_point(number, len(states))
    return Drift(scenario, strategy, to, tuple(points), break_even(points))


def break_even(points: Sequence[DriftPoint]) -> BreakEven | None:
    """Return where the speed-up crosses 1 first, on a straight line between two points."""
    for one, two in pairwise(points):
        low, high = one.speed_up - 1.0, two.speed_up - 1.0
        if (low > 0.0) == (high > 0.0):
            continue
        share = low / (low - high)

        def between(first: float, second: float, share: float = share) -> float:
            return first + share * (second - first)

        return BreakEven(
            between(one.at, two.at),
            between(one.tokens_per_pass, two.tokens_per_pass),
            between(one.first_acceptance, two.first_acceptance),
        )
    return None


def _speculation(scenario: Scenario) -> Speculative:
    for strategy in (scenario.decoding, *scenario.strategies):
        if isinstance(strategy, Speculative):
            return strategy
    raise InputError(
        "nothing is drafted, so no acceptance can drift",
        where="decoding",
        remedy="name a `speculative` strategy, as `decoding` or in `strategies`",
    )


def _moved(
    scenario: Scenario, strategy: Speculative, state: float, to: Mapping[str, float] | None
) -> Scenario:
    if to is None:
        scale = strategy.acceptance_scale * state
        return scenario.with_decoding(strategy.model_copy(update={"acceptance_scale": scale}))
    mix = scenario.workload.domains or {}
    names = dict.fromkeys([*mix, *to])
    shares = {n: (1 - state) * mix.get(n, 0.0) + state * to.get(n, 0.0) for n in names}
    domains = {name: share for name, share in shares.items() if share > 0.0}
    workload = scenario.workload.model_copy(update={"domains": domains})
    return scenario.with_workload(workload).with_decoding(strategy)


def _user_speed(scenario: Scenario) -> float:
    """Output tokens of the measured answers over the seconds that users waited for them."""
    serving = resolve(scenario)
    asked, limit = scenario.run, serving.limits.max_context_tokens
    traffic = scenario.workload.draw(
        asked.requests, asked.seed, limit=MOST_REQUESTS, context_tokens=limit
    )
    return _speed(serve(scenario, serving, traffic))


def _speed(simulation: Simulation) -> float:
    records, count = simulation.records, simulation.measured
    done = records.status[:count] == Status.FINISHED
    waited_s = (records.last_token_s - records.arrival_s)[:count][done].sum()
    if not waited_s:
        raise InputError("no request finished", where="workload")
    return float(records.output_tokens[:count][done].sum() / waited_s)
