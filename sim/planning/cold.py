"""A deployment that starts from nothing: when it is ready, and what its first users see."""

from dataclasses import dataclass, replace
from math import ceil
from typing import Final

import numpy as np

from sim.cold_start import ColdFacts, ColdStart, Phase, load_assumptions, phases, total
from sim.errors import UnknownNameError
from sim.metrics.quantities import finished, ttft_s
from sim.metrics.summary import Summary, summarise
from sim.records import RequestRecords, Traffic
from sim.run import draw, run, serve
from sim.scenario import Scenario, Serving, resolve

AFTER: Final = 3
"""The traffic is followed for so many times as long as the start takes, if that is longer."""
MOST_REQUESTS: Final = 200_000


@dataclass(frozen=True, slots=True)
class Backlog:
    """What arrives while nothing is ready, and how it is worked off."""

    waiting: int
    """Requests that have come when the deployment is ready."""
    ttft: Summary
    """TTFT of these requests, s."""
    settled_s: float | None
    """From ready until nobody waits, s; `None`: not while traffic was followed."""


@dataclass(frozen=True, slots=True)
class ColdReport:
    """From nothing to the first token, and against it what a warm deployment gives; s."""

    scenario: Scenario
    settings: ColdStart
    weight_bytes: float
    """Read from storage for one replica."""
    phases: tuple[Phase, ...]
    ready: Phase
    """The sum of the phases."""
    warm_ttft: Summary
    """In the run of the scenario: as the user sees it."""
    cached_share: float
    """Of the prompt tokens of that run, found in the prefix cache."""
    lone_ttft_s: float
    """Of the mean prompt alone on a replica that is ready, its prefix cache empty."""
    backlog: Backlog | None
    """`None` for a closed loop, whose users wait until there is something to send to."""

    @property
    def first_ttft_s(self) -> float:
        """TTFT of the request whose arrival starts the deployment, s."""
        return self.ready.seconds + self.lone_ttft_s


def cold_start(scenario: Scenario) -> ColdReport:
    """Return the cold path of a scenario: static phases, then its traffic on a late start.

    All replicas start at once and are ready together; each phase begins when the one before has
    ended.
    """
    settings = scenario.cold_start or ColdStart()
    serving = resolve(scenario)
    assumed = load_assumptions(settings.assumptions)
    if settings.loader not in assumed.loader_gb_per_s and settings.loader_gb_per_s is None:
        raise UnknownNameError("loader", settings.loader, tuple(assumed.loader_gb_per_s))
    facts = _facts(scenario, serving)
    parts = phases(settings, assumed, facts)
    ready = total(parts)
    warm = run(scenario, intervals=False)
    counted = warm.simulation.records
    prompts = max(1, int(counted.input_tokens.sum()))
    return ColdReport(
        scenario=scenario,
        settings=settings,
        weight_bytes=facts.weight_bytes,
        phases=parts,
        ready=ready,
        warm_ttft=warm.metrics.latency["ttft"],
        cached_share=int(counted.cached_input_tokens.sum()) / prompts,
        lone_ttft_s=_lone_ttft_s(scenario, serving),
        backlog=_backlog(scenario, serving, ready.seconds),
    )


def _facts(scenario: Scenario, serving: Serving) -> ColdFacts:
    gpus = scenario.deployment.gpus_per_replica
    return ColdFacts(
        weight_bytes=serving.memory.weight_bytes * gpus,
        layers=serving.model.num_layers,
        machines=ceil(gpus / serving.gpu.gpus_per_node.value),
    )


def _lone_ttft_s(scenario: Scenario, serving: Serving) -> float:
    """Return the TTFT of the mean request alone, as the user sees it, s."""
    prompt, answer = (max(1, round(mean)) for mean in scenario.workload.mean_tokens())
    one = Traffic(np.zeros(1), np.array([prompt]), np.array([answer]), measured=1)
    records = serve(scenario, serving, one).records
    return float(ttft_s(records, scenario.pipeline)[0])


def _backlog(scenario: Scenario, serving: Serving, ready_s: float) -> Backlog | None:
    """Serve the traffic that cannot be served before `ready_s` [s]."""
    rate = scenario.workload.offered_requests_per_s
    if rate is None:
        return None
    wanted = max(scenario.run.requests, ceil(rate * ready_s * (1 + AFTER)))
    traffic = draw(scenario, serving, min(wanted, MOST_REQUESTS))
    came_s = traffic.arrival_s
    held = replace(traffic, arrival_s=np.maximum(came_s, ready_s))
    records = serve(scenario, serving, held).records
    early = (came_s < ready_s) & finished(records)
    first = np.where(early, records.first_token_s - came_s + scenario.pipeline.total_s, np.nan)
    return Backlog(
        waiting=int(np.count_nonzero(came_s < ready_s)),
        ttft=summarise(first, None),
        settled_s=_settled_s(records, ready_s, float(came_s[traffic.measured - 1])),
    )


def _settled_s(records: RequestRecords, ready_s: float, until_s: float) -> float | None:
    """Return the time from ready until nobody waits to be admitted, s."""
    came = np.sort(records.arrival_s[~np.isnan(records.arrival_s)])
    admitted = np.sort(records.admitted_s[~np.isnan(records.admitted_s)])
    waiting = np.searchsorted(came, admitted, side="right") - np.arange(1, len(admitted) + 1)
    empty = admitted[(waiting <= 0) & (admitted <= max(until_s, ready_s))]
    return float(empty[0] - ready_s) if len(empty) else None
