"""The tight loop over usual boundaries does what a replica does step by step, to the last bit."""

from dataclasses import fields, replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sim.cost import KvShape
from sim.decoding import Autoregressive, BlockDiffusion, Speculative, Strategy
from sim.engine import simulate
from sim.engine.habits import Habits
from sim.engine.limits import Limits
from sim.engine.replica import Replica
from sim.engine.schedulers import ChunkedPrefillSettings, SchedulerSettings
from sim.engine.schedulers.prefill_first import PrefillFirstSettings
from sim.records import Simulation, Traffic
from tests.laws.building import Case, a_cost, cases

FLEET = import_module("sim.engine.fleet")
STRATEGIES: dict[str, Strategy] = {
    "autoregressive": Autoregressive(),
    "chain": Speculative.model_validate(
        {
            "draft_tokens": 3,
            "conditional_acceptance": [0.7, 0.65, 0.6],
            "draft": {"work_share": 0.14},
        }
    ),
    "block_diffusion": BlockDiffusion(block_tokens=32, denoise_passes=8),
}


def served(case: Case) -> Simulation:
    return simulate(
        *(case.traffic, case.passes, case.strategy, case.cost, case.limits),
        draft_cost=case.draft_cost,
    )


def step_by_step(case: Case) -> Simulation:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FLEET, "quiet_passes", lambda _: None)
        return served(case)


def columns(simulation: Simulation) -> dict[str, Any]:
    """All that a run has written down."""
    parts = (simulation.records, simulation.leaps, simulation.gaps, simulation.in_system)
    found = {f.name: getattr(part, f.name) for part in parts for f in fields(part)}
    found["standing"] = simulation.standing
    if simulation.front_end is not None:
        handed = simulation.front_end
        found |= {f"front end {f.name}": getattr(handed, f.name) for f in fields(handed)}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


def check_alike(case: Case) -> None:
    tight, loose = columns(served(case)), columns(step_by_step(case))
    for name, column in loose.items():
        assert tight[name].tobytes() == column.tobytes(), name


def a_case(strategy: Strategy, limits: Limits, seed: int, requests_per_s: float) -> Case:
    """Return arrivals at random, of prompts and answers of up to 200 tokens."""
    rng, rows = np.random.default_rng(seed), 120
    inputs, outputs = rng.integers(1, 200, (2, rows))
    arrival_s = np.cumsum(rng.exponential(1 / requests_per_s, rows))
    traffic = Traffic(arrival_s, inputs, outputs, measured=100)
    passes = strategy.draw_passes(outputs, rng)
    return Case(traffic, passes, strategy, a_cost(), limits)


ROOMY = Limits(1, 64, 2048, KvShape(blocks=4096, block_tokens=16), 1 << 20)
TIGHT = replace(ROOMY, max_sequences=12, max_batched_tokens=480, kv=KvShape(60, 16))
SEEN_LATE = Habits(ingress_s=0.01, pick_up_passes=1)
SHOWN_LATE = replace(SEEN_LATE, front_end_s_per_chunk=0.003)
HABITS: dict[str, Habits | None] = {
    "none": None,
    "shown_late": SHOWN_LATE,
    "shown_now_and_then": replace(SEEN_LATE, stream_interval_tokens=10),
    "shown_later": replace(SHOWN_LATE, stream_interval_tokens=4, stream_first_token=True),
    "seen_late": SEEN_LATE,
    "seen_later": replace(SEEN_LATE, pick_up_passes=3, pick_up_every_passes=2),
    "seen_now_and_then": Habits(pick_up_every_passes=5),
    "reserves": Habits(whole_answer=True),
    "reserves_and_seen_late": replace(SEEN_LATE, whole_answer=True),
}


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limits", [ROOMY, replace(ROOMY, replicas=2), TIGHT])
@pytest.mark.parametrize("requests_per_s", [2.0, 20.0, 80.0])
@pytest.mark.parametrize("habits", HABITS)
def test_the_tight_loop_serves_to_the_same_bit(
    strategy: str, limits: Limits, requests_per_s: float, habits: str
) -> None:
    limits = replace(limits, habits=HABITS[habits])
    case = a_case(STRATEGIES[strategy], limits, seed=3, requests_per_s=requests_per_s)
    check_alike(case)
    check_alike(replace(case, limits=replace(limits, scheduler=PrefillFirstSettings())))


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_so_it_does_whatever_is_served_and_however(data: st.DataObject) -> None:
    case = data.draw(cases())
    check_alike(case)
    if case.traffic.users is None and case.traffic.turns is None:
        check_alike(
            replace(case, limits=replace(case.limits, prefix_cache=False, router=ROOMY.router))
        )


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("habits", ["none", "seen_late", "reserves_and_seen_late", "shown_late"])
@pytest.mark.parametrize("scheduler", [ChunkedPrefillSettings(), PrefillFirstSettings()])
def test_with_room_nearly_all_boundaries_are_usual(
    strategy: str, habits: str, scheduler: SchedulerSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    decided, begin = [0], Replica._begin

    def counting(replica: Replica, now: float) -> float:
        decided[0] += 1
        return begin(replica, now)

    monkeypatch.setattr(Replica, "_begin", counting)
    limits = replace(ROOMY, habits=HABITS[habits], scheduler=scheduler)
    leaps = served(a_case(STRATEGIES[strategy], limits, seed=5, requests_per_s=4.0)).leaps
    assert decided[0] < 0.4 * len(leaps.passes)
