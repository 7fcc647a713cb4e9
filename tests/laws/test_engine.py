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
from tests.laws.machines import slower
from tests.laws.watch import watched_replicas

pytestmark = pytest.mark.laws
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
FEW = settings(max_examples=25, suppress_health_check=list(HealthCheck))


def run(case: Case, mode: Any = "leap") -> Simulation:
    return simulate(case.traffic, case.passes, case.strategy, case.cost, case.limits, mode=mode)


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
    seen = run(data.draw(cases(kind)))
    records, status = seen.records, seen.records.status
    assert not (status[: seen.measured] == Status.UNFINISHED).any()
    finished = status == Status.FINISHED
    inside = ~np.isnan(records.arrival_s) & (status != Status.REJECTED)
    assert (finished <= inside).all()
    series = seen.in_system
    assert (series.count >= 0).all()
    assert (np.diff(series.time_s) >= 0).all()
    for at_s in np.unique(series.time_s):
        after = series.count[np.searchsorted(series.time_s, at_s, side="right") - 1]
        entered = (records.arrival_s[inside] <= at_s).sum()
        left = (records.last_token_s[finished] <= at_s).sum()
        assert after == entered - left


@EVERY_KIND
@FEW
@given(data=st.data())
def test_what_comes_later_comes_later(kind: type[BaseModel], data: st.DataObject) -> None:
    case = data.draw(cases(kind))
    seen = run(case)
    records = seen.records
    done = records.status == Status.FINISHED
    assert (records.arrival_s[done] <= records.admitted_s[done]).all()
    assert (records.admitted_s[done] < records.first_token_s[done]).all()
    assert (records.first_token_s[done] <= records.last_token_s[done]).all()
    alone = records.chunks == 1
    same = records.first_token_s == records.last_token_s
    assert (same[done] == alone[done]).all()
    assert (np.isnan(records.max_gap_s[done]) == alone[done]).all()
    spread_s = records.last_token_s - records.first_token_s
    several = done & ~alone
    assert (records.max_gap_s[several] <= spread_s[several] * (1 + 1e-9)).all()
    mean_gap_s = spread_s[several] / (records.chunks[several] - 1)
    assert (records.max_gap_s[several] >= mean_gap_s * (1 - 1e-9)).all()
    assert (records.replica[done] == np.flatnonzero(done) % case.limits.replicas).all()


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
    leap, step = run(case, "leap").leaps, run(case, "pass").leaps
    assert leap.passes.sum() == step.passes.sum() == len(step.passes)
    sums = ("positions", "logit_positions", "context_tokens", "pairs", "prefill_s", "draft_s")
    for name in (*sums, "duration_s"):
        whole, parts = getattr(leap, name).sum(), getattr(step, name).sum()
        assert whole == pytest.approx(parts, rel=1e-9, abs=1e-12), name
    assert (leap.sequences * leap.passes).sum() == step.sequences.sum()
    if len(leap.passes):
        assert len(leap.capped) == len(step.capped) == len(case.cost.reaches)
    for leaping, stepping in zip(leap.capped, step.capped, strict=True):
        whole, parts = (tuple(part.sum() for part in pair) for pair in (leaping, stepping))
        assert whole == pytest.approx(parts, rel=1e-9)


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
    stretched = run(replace(case, traffic=traffic, cost=slower(case.cost, factor))).records
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
    seen = run(case)
    series, records = seen.in_system, seen.records
    inside_s = (series.count[:-1] * np.diff(series.time_s)).sum()  # L x time, from events
    done = records.status == Status.FINISHED
    spent_s = (records.last_token_s - records.arrival_s)[done].sum()  # requests x W, from records
    assert inside_s == pytest.approx(spent_s, rel=1e-9)
