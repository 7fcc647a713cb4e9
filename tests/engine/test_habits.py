"""Schedulers and habits of engines, leaping and pass by pass, against the second engine."""

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from sim.engine import simulate
from sim.engine.habits import Habits
from sim.engine.schedulers import AnyScheduler
from sim.records import Status
from sim.routers import RoundRobin
from tests.engine.agreement import MODES, close
from tests.engine.habit_oracle import Guest, serve_with_habits
from tests.laws.building import Case, cases
from tests.laws.lawful import accounted_for, add_up, alike, in_order, littles_law

pytestmark = pytest.mark.laws
KINDS: tuple[Any, ...] = get_args(get_args(AnyScheduler)[0])
"""Every scheduler that a scenario may name: the union is the test list."""
SMALL = list(HealthCheck)


@st.composite
def habits(draw: st.DrawFn) -> Habits | None:
    """Return any habits, or none."""
    if draw(st.integers(0, 4)) == 0:
        return None
    return Habits(
        ingress_s=draw(st.sampled_from([0.0, 0.0123456789])),
        ingress_s_per_token=draw(st.sampled_from([0.0, 0.0, 0.000987654321])),
        pick_up_passes=draw(st.sampled_from([0, 0, 1, 3])),
        pick_up_every_passes=draw(st.sampled_from([1, 1, 2, 5])),
        hold_passes=draw(st.sampled_from([0, 0, 1, 4])),
        hold_token_share=draw(st.sampled_from([0.3, 1.0])),
        whole_answer=draw(st.booleans()),
        stream_interval_tokens=draw(st.sampled_from([1, 1, 2, 7])),
        stream_first_token=draw(st.booleans()),
        front_end_s_per_chunk=draw(st.sampled_from([0.0, 0.0, 1.1e-4, 7.7e-3])),
    )


@st.composite
def schedulers(draw: st.DrawFn, kind: Any) -> Any:
    """Return a scheduler of a kind with any of its settings."""
    order = draw(st.sampled_from(["fcfs", "priority", "shortest_prompt", "fair"]))
    ageing = order in {"priority", "shortest_prompt"} and draw(st.booleans())
    given: dict[str, Any] = {
        "order": order,
        "ageing_s": 0.0031 if ageing else None,
        "class_weights": (1.0, 3.0) if order == "fair" and draw(st.booleans()) else (),
        "max_prompts_per_pass": draw(st.sampled_from([None, None, 1, 2])),
        "max_prefill_tokens_per_pass": draw(st.sampled_from([None, None, 5, 40])),
        "preemption": draw(st.sampled_from(["recompute", "swap"])),
    }
    if "refill_share" in kind.model_fields:
        given["refill_share"] = draw(st.sampled_from([0.0, 0.4, 0.9]))
    return kind(**given)


@st.composite
def habit_cases(draw: st.DrawFn, kind: Any, *, lanes: bool = False) -> Case:
    """Return a small scenario with a scheduler, habits, priorities and classes.

    With `lanes` it may have routers that look, lanes and a prefix cache too, which the second
    engine does not know.
    """
    case = draw(cases())
    rows = len(case.traffic)
    numbers = st.lists(st.integers(0, 2), min_size=rows, max_size=rows)
    traffic = replace(
        case.traffic,
        priority=np.array(draw(numbers)),
        request_class=np.array(draw(numbers)),
    )
    limits = replace(
        case.limits,
        scheduler=draw(schedulers(kind)),
        habits=draw(habits()),
        swap_s_per_block=2.345e-4,
    )
    if not lanes:
        limits = replace(limits, router=RoundRobin(), ranks=1, microbatches=1, prefix_cache=False)
    return replace(case, traffic=traffic, limits=limits)


def hangs_on_the_last_bit(jobs: list[Guest]) -> bool:
    """Tell whether somebody comes when somebody else comes or goes, but for rounding.

    Two users whose answers take equally long, and who think equally long, meet: which of them is
    first, and whether a pass has just ended, depends on the order in which times are added up.
    """
    times = [time for job in jobs for time in (job.arrival_s, job.last_token_s)]
    gaps_s = np.diff(np.unique([time for time in times if np.isfinite(time)]))
    return bool((gaps_s < 1e-12).any())


def check(case: Case) -> list[Guest]:
    inputs = case.traffic, case.passes, case.strategy, case.cost, case.limits
    jobs = serve_with_habits(*inputs, draft_cost=case.draft_cost)
    assume(not hangs_on_the_last_bit(jobs))
    for mode in MODES:
        seen = simulate(*inputs, draft_cost=case.draft_cost, mode=mode)
        records = seen.records
        for job in jobs[: seen.measured]:
            row = job.row
            assert records.status[row] == (Status.REJECTED if job.rejected else Status.FINISHED)
            assert records.preemptions[row] == job.preemptions, (mode, row)
            assert records.arrival_s[row] == close(job.arrival_s)
            assert records.admitted_s[row] == close(job.admitted_s), (mode, row)
            assert records.last_token_s[row] == close(job.last_token_s), (mode, row)
            if job.rejected:
                continue
            assert records.first_token_s[row] == close(job.seen_s[0]), (mode, row)
            assert records.chunks[row] == len(job.seen_s), (mode, row)
            gaps = np.diff(job.seen_s)
            longest = gaps.max() if len(gaps) else np.nan
            assert records.max_gap_s[row] == pytest.approx(
                longest, rel=1e-8, abs=1e-12, nan_ok=True
            ), (mode, row)
        assert seen.kv_peak_share <= 1
        assert (seen.in_system.count >= 0).all()
        everything = [np.diff(job.seen_s) for job in jobs[: seen.measured]]
        gaps = np.concatenate([np.zeros(0), *everything])
        assert seen.gaps.weights.sum() == pytest.approx(len(gaps)), mode
        total = (seen.gaps.values * seen.gaps.weights).sum()
        assert total == pytest.approx(gaps.sum(), rel=1e-9, abs=1e-10), mode
    return jobs


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=120, suppress_health_check=SMALL)
@given(data=st.data())
def test_schedulers_and_habits_agree_with_the_second_engine_on_every_request(
    kind: Any, data: st.DataObject
) -> None:
    check(data.draw(habit_cases(kind)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=1_500, suppress_health_check=SMALL)
@given(data=st.data())
def test_schedulers_and_habits_agree_on_thousands_of_scenarios(
    kind: Any, data: st.DataObject
) -> None:
    jobs = check(data.draw(habit_cases(kind)))
    assert all(np.isfinite(job.last_token_s) for job in jobs if not job.rejected)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=40, suppress_health_check=SMALL)
@given(data=st.data())
def test_leap_and_pass_agree_with_routers_lanes_and_caches_too(
    kind: Any, data: st.DataObject
) -> None:
    case = data.draw(habit_cases(kind, lanes=True))
    inputs = (case.traffic, case.passes, case.strategy, case.cost, case.limits)
    leap, step = (simulate(*inputs, draft_cost=case.draft_cost, mode=mode) for mode in MODES)
    alike(leap, step)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=2_500, suppress_health_check=SMALL)
@given(data=st.data())
def test_thousands_of_scenarios_of_any_kind_keep_all_laws_leaping_and_pass_by_pass(
    kind: Any, data: st.DataObject
) -> None:
    """Any scheduler, strategy, policy, router, layout, cache and habits, each to its very end."""
    case = data.draw(habit_cases(kind, lanes=True))
    traffic = replace(case.traffic, measured=len(case.traffic))
    inputs = (traffic, case.passes, case.strategy, case.cost, case.limits)
    leap, step = (simulate(*inputs, draft_cost=case.draft_cost, mode=mode) for mode in MODES)
    alike(leap, step)
    add_up(leap.leaps, step.leaps)
    for seen in (leap, step):
        accounted_for(seen)
        in_order(seen)
        littles_law(seen)
