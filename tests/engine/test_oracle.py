"""The engine, leaping and pass by pass, against one that does everything the long way."""

from dataclasses import replace
from math import isnan
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from sim.decoding import Autoregressive, BlockDiffusion, Strategy
from sim.engine import simulate
from sim.records import Simulation, Status
from tests.engine.oracle import Job, serve
from tests.laws.building import KINDS, Case, cases, limits, traffic
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.laws
MODES: tuple[Literal["leap", "pass"], ...] = ("leap", "pass")
PLAIN: list[Strategy] = [Autoregressive(), BlockDiffusion(block_tokens=4, denoise_passes=2)]
SMALL = [HealthCheck.too_slow, HealthCheck.data_too_large]


def check(case: Case, mode: Literal["leap", "pass"], jobs: list[Job]) -> None:
    seen = simulate(case.traffic, case.passes, case.strategy, case.cost, case.limits, mode=mode)
    records = seen.records
    for job in jobs[: seen.measured]:
        row = job.row
        assert records.status[row] == (Status.REJECTED if job.rejected else Status.FINISHED)
        assert records.preemptions[row] == job.preemptions, row
        assert records.arrival_s[row] == close(job.arrival_s)
        assert records.admitted_s[row] == close(job.admitted_s)
        assert records.last_token_s[row] == close(job.last_token_s)
        if job.rejected:
            continue
        assert records.first_token_s[row] == close(job.seen_s[0])
        assert records.chunks[row] == len(job.seen_s)
        gaps = np.diff(job.seen_s)
        assert records.max_gap_s[row] == close(gaps.max() if len(gaps) else np.nan)
    _check_pooled_gaps(seen, jobs)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=0.0, nan_ok=True)


def _check_pooled_gaps(seen: Simulation, jobs: list[Job]) -> None:
    gaps = np.concatenate([np.zeros(0), *(np.diff(job.seen_s) for job in jobs[: seen.measured])])
    assert seen.gaps.weights.sum() == pytest.approx(len(gaps))
    total = (seen.gaps.values * seen.gaps.weights).sum()
    assert total == pytest.approx(gaps.sum(), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(suppress_health_check=SMALL)
@given(data=st.data())
def test_engine_and_oracle_agree_on_every_request(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    case = data.draw(cases(kind))
    jobs = serve(case.traffic, case.passes, case.strategy, case.cost, case.limits)
    for mode in MODES:
        check(case, mode, jobs)


@pytest.mark.slow
@settings(max_examples=3_000, suppress_health_check=SMALL)
@given(case=cases())
def test_engine_and_oracle_agree_on_thousands_of_scenarios(case: Case) -> None:
    jobs = serve(case.traffic, case.passes, case.strategy, case.cost, case.limits)
    assert not any(isnan(job.last_token_s) for job in jobs if not job.rejected)
    for mode in MODES:
        check(case, mode, jobs)


@st.composite
def cases_on_a_grid(draw: st.DrawFn) -> Case:
    """Return scenarios whose arrivals and thinking fall on the very ends of passes."""
    asked, pass_s = draw(traffic()), 2.0**-6  # sums of such times are exact
    counts = st.lists(st.integers(0, 8), min_size=len(asked), max_size=len(asked))
    steps = np.array(draw(counts)) * pass_s / 2
    if asked.users is None:
        asked = replace(asked, arrival_s=np.cumsum(steps))
    else:
        asked = replace(asked, think_s=float(steps[0]))
    strategy = draw(st.sampled_from(PLAIN))
    passes = strategy.draw_passes(asked.output_tokens, np.random.default_rng(0))
    return Case(asked, passes, strategy, ConstantPass(pass_s), draw(limits()))


@settings(max_examples=150, suppress_health_check=SMALL)
@given(case=cases_on_a_grid())
def test_who_arrives_at_the_very_end_of_a_pass_waits_for_the_next(case: Case) -> None:
    jobs = serve(case.traffic, case.passes, case.strategy, case.cost, case.limits)
    for mode in MODES:
        check(case, mode, jobs)
