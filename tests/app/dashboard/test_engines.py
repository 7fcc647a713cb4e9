"""The engine, the arrivals and the targets of the sidebar mean what a scenario file would say."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app.dashboard import arrivals, engines
from app.dashboard.choices import choices_of, scenario_of
from sim.engine.schedulers import ChunkedPrefillSettings, DecodeFirstSettings
from sim.errors import InputError
from sim.scenario import Scenario, load_scenario
from sim.workload import Bursts, Diurnal, Gamma


@pytest.fixture
def changed() -> Callable[..., Scenario]:
    """The scenario of the start (vLLM, Poisson arrivals) with some choices changed."""
    start = load_scenario("chat-70b-h100")

    def change(**changes: object) -> Scenario:
        choices = replace(choices_of(start), **changes)  # type: ignore[arg-type]
        found = scenario_of(choices, start)
        assert choices_of(found) == choices  # and it is shown as it was set
        return found

    return change


def test_the_preset_and_its_overrides_go_where_the_file_has_them(
    changed: Callable[..., Scenario],
) -> None:
    found = changed(
        engine="sglang",
        kv_reserve="whole_answer",
        asynchronous=engines.NO,
        stream_interval=10,
        memory_percent=85,
        max_sequences=64,
        prefix_cache=False,
        router="least_kv",
    )
    assert found.engine == "sglang"
    assert found.engine_options.chosen == {
        "kv_reserve": "whole_answer",
        "asynchronous": False,
        "stream_interval_tokens": 10,
    }
    assert found.deployment.memory_fraction == 0.85
    assert found.deployment.max_sequences == 64
    assert not found.deployment.prefix_cache
    assert found.deployment.router.kind == "least_kv"


def test_a_scheduler_is_that_of_the_engine_until_something_is_said(
    changed: Callable[..., Scenario],
) -> None:
    assert changed().scheduler is None
    assert changed(scheduler="decode_first").scheduler == DecodeFirstSettings()
    capped = changed(scheduler="chunked_prefill", prefill_tokens=512, preemption="swap")
    assert capped.scheduler == ChunkedPrefillSettings(
        max_prefill_tokens_per_pass=512, preemption="swap"
    )


def test_an_order_alone_keeps_the_scheduler_of_the_engine() -> None:
    start = load_scenario("chat-70b-h100")
    choices = replace(choices_of(start), order="shortest_prompt")
    assert scenario_of(choices, start).scheduler == ChunkedPrefillSettings(
        order="shortest_prompt"  # vLLM mixes chunks of prompts into decode passes
    )


def test_what_goes_with_one_order_leaves_with_it() -> None:
    start = load_scenario(
        "two-classes-70b-h100", ["scheduler.order=priority", "scheduler.ageing_s=30"]
    )
    kept = replace(choices_of(start), preemption="swap")
    assert scenario_of(kept, start).scheduler == ChunkedPrefillSettings(
        order="priority", ageing_s=30, preemption="swap"
    )
    other = replace(choices_of(start), order="fcfs", preemption="swap")
    assert scenario_of(other, start).scheduler == ChunkedPrefillSettings(preemption="swap")


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"arrivals": arrivals.GAMMA, "gap_cv": 3.0}, Gamma(requests_per_s=8, cv=3)),
        (
            {"arrivals": arrivals.BURSTS, "burst_factor": 4.0, "burst_every_s": 30.0},
            Bursts(requests_per_s=8, factor=4, every_s=30, lasting_s=5),
        ),
        (
            {"arrivals": arrivals.DAY, "swing_percent": 40, "start_hour": 9},
            Diurnal(requests_per_s=8, swing=0.4, peak_hour=14, start_hour=9),
        ),
    ],
)
def test_arrivals_have_their_knobs(
    changes: dict[str, Any], wanted: object, changed: Callable[..., Scenario]
) -> None:
    assert changed(**changes).workload.arrivals == wanted


def test_a_course_of_the_week_is_kept_as_it_is() -> None:
    week = [
        "workload.arrivals.kind=diurnal",
        "workload.arrivals.requests_per_s=8",
        "workload.arrivals.days=[1,1,1,1,1,0.5,0.5]",
    ]
    start = load_scenario("chat-70b-h100", week)
    assert choices_of(start).arrivals == arrivals.AS_LISTED
    faster = replace(choices_of(start), load=16.0)
    found = scenario_of(faster, start).workload
    assert found.offered_requests_per_s == pytest.approx(16)
    assert isinstance(found.arrivals, Diurnal)


def test_bursts_longer_than_their_period_are_refused_in_one_sentence(
    changed: Callable[..., Scenario],
) -> None:
    with pytest.raises(InputError, match="needs `lasting_s` < `every_s`"):
        changed(arrivals=arrivals.BURSTS, burst_lasting_s=90.0)


def test_targets_on_the_whole_answer_and_their_share(changed: Callable[..., Scenario]) -> None:
    slo = changed(ttlt_ms=8000.0, max_gap_ms=250.0, attainment_percent=95.0).slo
    assert slo.per_request_s() == {"ttft": 1.0, "tpot": 0.05, "ttlt": 8.0, "max_gap": 0.25}
    assert slo.attainment == 0.95
