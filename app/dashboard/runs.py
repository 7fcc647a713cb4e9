"""Simulations behind the page: a short one for every move, a longer one when asked, both kept.

Outcomes are frozen, so sessions share them as they are; `st.cache_data` would copy each one anew.
"""

from typing import Final

import streamlit as st

from sim.decoding import Autoregressive
from sim.errors import SimError
from sim.metrics.overload import judge
from sim.run import Outcome, run
from sim.scenario import Scenario
from sim.workload import ClosedLoop, Trace

PREVIEW_REQUESTS: Final = 1_500
"""A p99 needs 1,000 after the warm-up is cut off, which rarely takes 100."""
FULL_REQUESTS: Final = 20_000
_PREVIEWS_KEPT: Final = 64
"""One holds about 2 MB."""
_FULL_RUNS_KEPT: Final = 6


def preview(scenario: Scenario) -> Outcome:
    """Return the outcome of a short run; its figures are right, their intervals wide."""
    short = of_length(scenario, PREVIEW_REQUESTS)
    outcome = _preview(key_of(short), short)
    load = judge(outcome.simulation)
    if not (load.filling_up or load.too_short or (load.overloaded and load.saturated is None)):
        return outcome
    # So near to overload that the short run cannot tell, or too short to say what is sustained.
    longer = of_length(scenario, 4 * PREVIEW_REQUESTS)
    return _preview(key_of(longer), longer)


def full(scenario: Scenario) -> Outcome:
    """Return the outcome of a long run."""
    long = of_length(scenario, FULL_REQUESTS)
    return _full(key_of(long), long)


def autoregressive(scenario: Scenario) -> Outcome | None:
    """Return a short run of the same scenario decoded one token at a time, if that is possible."""
    try:
        return preview(scenario.with_decoding(Autoregressive()))
    except SimError:
        return None


def key_of(scenario: Scenario) -> str:
    """Return the same text for the same scenario."""
    return scenario.model_dump_json(by_alias=True, exclude_none=True)


def of_length(scenario: Scenario, requests: int) -> Scenario:
    """Return the scenario with so many requests; a trace is cut, and every user gets several."""
    arrivals = scenario.workload.arrivals
    if isinstance(arrivals, Trace):
        rows = min(requests, arrivals.max_requests or requests)
        cut = arrivals.model_copy(update={"max_requests": rows})
        return scenario.with_workload(scenario.workload.model_copy(update={"arrivals": cut}))
    if isinstance(arrivals, ClosedLoop):
        requests = max(requests, 4 * arrivals.users)
    return scenario.with_workload(scenario.workload, requests)


@st.cache_resource(max_entries=_PREVIEWS_KEPT, show_spinner=False)
def _preview(key: str, _scenario: Scenario) -> Outcome:  # noqa: ARG001 - the key of the cache
    return run(_scenario)


@st.cache_resource(max_entries=_FULL_RUNS_KEPT, show_spinner="Simulating more requests")
def _full(key: str, _scenario: Scenario) -> Outcome:  # noqa: ARG001 - the key of the cache
    return run(_scenario)
