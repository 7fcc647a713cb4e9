"""The engine, leaping and pass by pass, against one that does everything the long way."""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from sim.decoding import Autoregressive, BlockDiffusion, Strategy
from tests.engine.agreement import check_against_oracle
from tests.laws.building import KINDS, Case, cases, limits, traffic
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.laws
PLAIN: list[Strategy] = [Autoregressive(), BlockDiffusion(block_tokens=4, denoise_passes=2)]
SMALL = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(suppress_health_check=SMALL)
@given(data=st.data())
def test_engine_and_oracle_agree_on_every_request(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    case = data.draw(cases(kind))
    check_against_oracle(case)


@pytest.mark.slow
@settings(max_examples=3_000, suppress_health_check=SMALL)
@given(case=cases())
def test_engine_and_oracle_agree_on_thousands_of_scenarios(case: Case) -> None:
    jobs = check_against_oracle(case)
    assert not any(isnan(job.last_token_s) for job in jobs if not job.rejected)


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
    check_against_oracle(case)
