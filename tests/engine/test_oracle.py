"""The engine, leaping and pass by pass, against one that does everything the long way."""

from dataclasses import replace
from math import isnan
from typing import Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from sim.cost import KvShape
from sim.decoding import Autoregressive, BlockDiffusion, Strategy
from sim.engine import Limits, simulate
from sim.records import Traffic
from tests.engine.agreement import MODES, check_against_oracle
from tests.laws.building import KINDS, Case, cases, limits, traffic
from tests.laws.constant_pass import ConstantPass

pytestmark = pytest.mark.laws
PLAIN: list[Strategy] = [Autoregressive(), BlockDiffusion(block_tokens=4, denoise_passes=2)]
SMALL = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=60, suppress_health_check=SMALL)
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
def cases_with_full_pools(draw: st.DrawFn) -> Case:
    """Return scenarios in which prompts are shared, kept, dropped and preempted all the time."""
    case = draw(cases())
    assume(case.traffic.prefix_blocks is not None)
    room, size = case.limits, case.limits.kv.block_tokens
    tokens = draw(st.integers(100, 260)) * room.lanes
    room = replace(
        room,
        kv=replace(room.kv, blocks=tokens // size + 1),
        prefix_cache=True,
        max_sequences=draw(st.sampled_from([4, 64])),
        max_context_tokens=100_000,
    )
    hurry = draw(st.sampled_from([1, 10, 1000]))
    asked = replace(case.traffic, arrival_s=case.traffic.arrival_s / hurry)
    return replace(case, limits=room, traffic=asked)


@settings(max_examples=100, suppress_health_check=list(HealthCheck))
@given(case=cases_with_full_pools())
def test_engine_and_oracle_agree_on_what_is_found_in_full_pools(case: Case) -> None:
    check_against_oracle(case)


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


@settings(max_examples=80, suppress_health_check=SMALL)
@given(case=cases_on_a_grid())
def test_who_arrives_at_the_very_end_of_a_pass_waits_for_the_next(case: Case) -> None:
    check_against_oracle(case, exact=True)


@pytest.mark.parametrize("mode", MODES)
def test_a_user_who_is_ready_when_a_pass_ends_is_admitted_at_the_end_of_the_next(
    mode: Literal["leap", "pass"],
) -> None:
    """The first answer ends with pass 1; its user thinks for one pass, then waits for one."""
    outputs = np.array([1, 3, 1])
    asked = Traffic(np.zeros(3), np.ones(3, int), outputs, 3, users=2, think_s=0.5)
    room = Limits(1, 2, 8, KvShape(31, 1), 150)
    seen = simulate(asked, outputs - 1, Autoregressive(), ConstantPass(0.5), room, mode=mode)
    assert seen.records.arrival_s.tolist() == [0, 0, 1.0]
    assert seen.records.admitted_s.tolist() == [0, 0, 1.5]
    assert seen.records.last_token_s.tolist() == [0.5, 1.5, 2.0]


@pytest.mark.parametrize("mode", MODES)
def test_a_request_that_arrives_when_a_pass_ends_is_admitted_at_the_end_of_the_next(
    mode: Literal["leap", "pass"],
) -> None:
    outputs = np.array([4, 1])
    asked = Traffic(np.array([0, 1.0]), np.ones(2, int), outputs, 2)
    room = Limits(1, 2, 8, KvShape(31, 1), 150)
    seen = simulate(asked, outputs - 1, Autoregressive(), ConstantPass(0.5), room, mode=mode)
    assert seen.records.admitted_s.tolist() == [0, 1.5]
    assert seen.records.last_token_s.tolist() == [2.0, 2.0]
