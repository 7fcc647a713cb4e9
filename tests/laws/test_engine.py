"""Laws of the engine, for every strategy that a scenario may name."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from sim.engine import simulate
from sim.records import Simulation, Status
from tests.laws.building import KINDS, Case, cases
from tests.laws.lawful import accounted_for, add_up, in_order, littles_law
from tests.laws.machines import slower
from tests.laws.watch import watched_replicas

pytestmark = pytest.mark.laws
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
FEW = settings(max_examples=25, suppress_health_check=list(HealthCheck))


def run(case: Case, mode: Any = "leap") -> Simulation:
    return simulate(
        *(case.traffic, case.passes, case.strategy, case.cost, case.limits),
        draft_cost=case.draft_cost,
        mode=mode,
    )


@EVERY_KIND
@FEW
@given(data=st.data())
def test_kv_is_conserved_and_no_replica_idles_while_a_request_could_be_admitted(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    case = data.draw(cases(kind))
    for mode in ("leap", "pass"):
        with watched_replicas() as watched:
            records = run(case, mode).records
        served = (records.status == Status.FINISHED).any()
        assert watched.seen > 0 or not served


@EVERY_KIND
@FEW
@given(data=st.data())
def test_every_request_is_accounted_for_at_every_moment(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    accounted_for(run(data.draw(cases(kind))))


@EVERY_KIND
@FEW
@given(data=st.data())
def test_what_comes_later_comes_later(kind: type[BaseModel], data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    seen = run(case)
    in_order(seen)
    if case.limits.router.foreseeable:
        done = seen.records.status == Status.FINISHED
        turns = np.flatnonzero(done) % case.limits.replicas
        assert (seen.records.replica[done] == turns).all()


@EVERY_KIND
@FEW
@given(data=st.data())
def test_the_same_input_gives_the_same_bytes(kind: type[BaseModel], data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    one, two = run(case), run(case)
    for part in ("records", "leaps", "gaps", "in_system"):
        for field in fields(getattr(one, part)):
            first, second = (getattr(getattr(each, part), field.name) for each in (one, two))
            assert bytes_of(first) == bytes_of(second), field.name


def bytes_of(column: Any) -> bytes:
    """All bytes of an array, or of tuples of arrays."""
    if isinstance(column, tuple):
        return b"".join(map(bytes_of, column))
    whole: bytes = column.tobytes()
    return whole


@EVERY_KIND
@FEW
@given(data=st.data())
def test_leaps_add_up_to_the_passes_that_they_leap_over(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    case = data.draw(cases(kind))
    # to the same end: what runs in the background when the last request is home is cut anywhere
    case = replace(case, traffic=replace(case.traffic, measured=len(case.traffic)))
    leap, step = run(case, "leap"), run(case, "pass")
    add_up(leap.leaps, step.leaps)
    assert len(leap.leaps.capped) == (len(case.cost.reaches) if len(leap.leaps.passes) else 0)


@EVERY_KIND
@FEW
@given(data=st.data(), factor=st.sampled_from([4.0, 0.3]))
def test_a_slower_machine_under_slower_arrivals_only_stretches_time(
    kind: type[BaseModel], data: st.DataObject, factor: float
) -> None:
    case = data.draw(cases(kind))
    turns = case.traffic.turns
    traffic = replace(
        case.traffic,
        arrival_s=case.traffic.arrival_s * factor,
        think_s=case.traffic.think_s * factor,
        turns=turns and replace(turns, pause_s=turns.pause_s * factor),
    )
    slow_draft = None if case.draft_cost is None else slower(case.draft_cost, factor)
    slow = replace(case, cost=slower(case.cost, factor), draft_cost=slow_draft)
    stretched = run(replace(slow, traffic=traffic)).records
    plain = run(case).records
    for name in ("admitted_s", "first_token_s", "last_token_s", "max_gap_s"):
        times = getattr(plain, name)[: case.traffic.measured]
        slow = getattr(stretched, name)[: case.traffic.measured]
        np.testing.assert_allclose(slow, times * factor, rtol=1e-9)
    assert (stretched.preemptions == plain.preemptions)[: case.traffic.measured].all()


@EVERY_KIND
@FEW
@given(data=st.data())
def test_littles_law_holds_to_the_last_bit_over_the_whole_run(
    kind: type[BaseModel], data: st.DataObject
) -> None:
    case = data.draw(cases(kind))
    case = replace(case, traffic=replace(case.traffic, measured=len(case.traffic)))
    littles_law(run(case))
