"""The trace against the Trace Event Format of the Chromium project, which Perfetto reads."""

import json
from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sim.records import Status
from sim.report.trace_events import trace_events_json
from sim.run import Outcome, run
from sim.scenario import load_scenario

TIGHT = [
    "run.requests=150",
    "deployment.replicas=2",
    "deployment.num_gpu_blocks=160",
    "deployment.max_sequences=32",
    "workload.arrivals.requests_per_s=20",
]
"""A KV pool so small that requests are preempted."""


@cache
def outcome() -> Outcome:
    return run(load_scenario("chat-70b-h100", TIGHT), intervals=False)


@cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(trace_events_json(outcome()))
    return found


def events(phase: str) -> list[dict[str, Any]]:
    return [event for event in document()["traceEvents"] if event["ph"] == phase]


NEEDED = {
    "M": {"name", "pid", "args"},
    "X": {"name", "cat", "ts", "dur", "pid", "tid"},
    "C": {"name", "ts", "pid", "args"},
    "b": {"name", "cat", "id", "ts", "pid"},
    "e": {"name", "cat", "id", "ts", "pid"},
}
"""What the format asks of each phase that is used."""


def test_every_event_has_what_its_phase_needs_and_times_are_numbers() -> None:
    for event in document()["traceEvents"]:
        assert NEEDED[event["ph"]] <= event.keys(), event
        assert isinstance(event["pid"], int)
        for name in {"ts", "dur"} & event.keys():
            assert isinstance(event[name], int | float)
            assert event[name] >= 0
    assert {event["ph"] for event in document()["traceEvents"]} == NEEDED.keys()
    assert document()["displayTimeUnit"] in {"ms", "ns"}


def test_counters_hold_numbers_only() -> None:
    for event in events("C"):
        assert all(isinstance(value, int | float) for value in event["args"].values())


def test_slices_of_one_replica_follow_each_other() -> None:
    tracks = defaultdict(list)
    for event in events("X"):
        tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    assert len(tracks) == 2
    for slices in tracks.values():
        slices.sort()
        # Timestamps are rounded to a nanosecond.
        for (_, end), (start, _) in pairwise(slices):
            assert end <= start + 0.002


def test_begins_and_ends_of_a_request_nest() -> None:
    spans: dict[tuple[int, str, int], list[dict[str, Any]]] = defaultdict(list)
    for event in document()["traceEvents"]:
        if event["ph"] in "be":
            spans[event["pid"], event["cat"], event["id"]].append(event)
    assert len(spans) > 100
    for of_one in spans.values():
        opened: list[dict[str, Any]] = []
        for event in of_one:
            if event["ph"] == "b":
                opened.append(event)
                continue
            begin = opened.pop()
            assert begin["name"] == event["name"]
            assert begin["ts"] <= event["ts"]
        assert not opened
        assert of_one[0]["name"] == "request"


def test_a_request_is_queued_prefilled_and_decoded_and_where_it_was_preempted_it_says_so() -> None:
    records = outcome().simulation.records
    assert records.preemptions.sum() > 10
    parts: dict[int, list[tuple[str, float, float]]] = defaultdict(list)
    begun: dict[tuple[int, str], float] = {}
    for event in document()["traceEvents"]:
        if event["ph"] == "b":
            begun[event["id"], event["name"]] = event["ts"]
        elif event["ph"] == "e" and event["name"] != "request":
            parts[event["id"]].append(
                (event["name"], begun[event["id"], event["name"]] / 1e6, event["ts"] / 1e6)
            )
    seen = 0
    for row, stretches in parts.items():
        names = [name for name, _, _ in stretches]
        assert names[0] == "queued"
        assert stretches[0][1] == pytest.approx(records.arrival_s[row], abs=1e-6)
        if records.status[row] == Status.UNFINISHED:
            continue  # it lasts until the end of the run
        assert stretches[0][2] == pytest.approx(records.admitted_s[row], abs=1e-6)
        assert stretches[-1][2] == pytest.approx(records.last_token_s[row], abs=1e-6)
        for (_, _, end), (_, start, _) in pairwise(stretches):
            assert start == pytest.approx(end, abs=1e-6)
        # Preempted while it is still being prefilled, a request has decoded nothing before.
        assert names.count("preempted") <= records.preemptions[row]
        seen += names.count("preempted")
        if names.count("decode") == 1:
            assert stretches[-1][1] == pytest.approx(records.first_token_s[row], abs=1e-6)
    assert seen > 10


def test_the_passes_of_the_slices_are_those_of_the_run() -> None:
    assert sum(event["args"]["passes"] for event in events("X")) == int(
        outcome().simulation.leaps.passes.sum()
    )


def test_a_long_run_is_cut_where_it_gets_too_much_and_says_where() -> None:
    short = json.loads(trace_events_json(outcome(), most_events=500))
    assert len(short["traceEvents"]) <= 500 + 8  # the names of processes come on top
    until = short["otherData"]["shown_until_s"]
    assert 0 < until < short["otherData"]["run_s"]
    assert max(event.get("ts", 0) for event in short["traceEvents"] if event["ph"] == "X") <= (
        until * 1e6
    )


@pytest.mark.parametrize("strategy", ["speculative", "block_diffusion"])
def test_phases_of_a_plan_are_not_preemptions(strategy: str) -> None:
    scenario = load_scenario("chat-70b-h100", ["run.requests=60"])
    decoding = next(one for one in scenario.strategies if one.name == strategy)
    found = run(scenario.with_decoding(decoding), intervals=False)
    assert found.simulation.records.preemptions.sum() == 0
    names = {event["name"] for event in json.loads(trace_events_json(found))["traceEvents"]}
    assert "preempted" not in names
    assert "decode" in names


def test_turns_of_a_session_have_their_own_stretches() -> None:
    """Rows of a session are issued in another order than they were drawn in."""
    found = run(load_scenario("sessions-32b-h200", ["run.requests=200"]), intervals=False)
    records = found.simulation.records
    begun = {}
    for event in json.loads(trace_events_json(found))["traceEvents"]:
        if event["ph"] == "b":
            begun[event["id"], event["name"]] = event["ts"] / 1e6
    done = np.flatnonzero(records.status == Status.FINISHED)
    once = [row for row in done if records.preemptions[row] == 0 and records.chunks[row] > 1]
    assert len(once) > 50
    for row in once:
        assert begun[row, "decode"] == pytest.approx(records.first_token_s[row], abs=1e-6)


LANES = ["run.requests=300", "deployment.attention_data_parallel=2", "deployment.replicas=2"]


def test_lanes_of_a_replica_are_tracks_of_its_process() -> None:
    found = run(load_scenario("chat-70b-h100", LANES), intervals=False)
    leaps = found.simulation.leaps
    assert found.simulation.lanes == 2
    assert set(leaps.replica.tolist()) == {0, 1, 2, 3}
    events = json.loads(trace_events_json(found))["traceEvents"]
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for event in events:
        if event["ph"] == "X":
            counts[event["pid"], event["tid"]] += event["args"]["passes"]
    assert counts == {
        (1 + lane // 2, 1 + lane % 2): leaps.passes[leaps.replica == lane].sum()
        for lane in range(4)
    }
    assert {event["pid"] for event in events if event["ph"] == "b"} - {1_000_000} == {1, 2}
    names = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    assert names == ["passes of lane 0", "passes of lane 1"] * 2
    assert_decoding_runs_from_the_first_token_to_the_last(found, events)


def assert_decoding_runs_from_the_first_token_to_the_last(
    found: Outcome, events: list[dict[str, Any]]
) -> None:
    records, times = found.simulation.records, {}
    for event in events:
        if event["ph"] in "be":
            times[event["ph"], event["id"], event["name"]] = event["ts"] / 1e6
    done = np.flatnonzero(records.status == Status.FINISHED)
    once = [row for row in done if records.preemptions[row] == 0 and records.chunks[row] > 1]
    assert len(once) > 50
    for row in once:
        assert times["b", row, "decode"] == pytest.approx(records.first_token_s[row], abs=1e-6)
        assert times["e", row, "decode"] == pytest.approx(records.last_token_s[row], abs=1e-6)


def test_passes_of_prompts_only_do_not_shift_those_that_decode() -> None:
    """SGLang lets the batch stand still; its front end, which shows tokens later, is left out."""
    settings = [
        "run.requests=300",
        "engine=sglang",
        "engine_options.front_end_tokens_per_s=unlimited",
    ]
    found = run(load_scenario("chat-70b-h100", settings), intervals=False)
    assert len(found.simulation.standing) > 50
    assert (found.simulation.leaps.prefill_s[found.simulation.standing] > 0).all()
    events = json.loads(trace_events_json(found))["traceEvents"]
    assert_decoding_runs_from_the_first_token_to_the_last(found, events)


def test_the_same_run_gives_the_same_bytes() -> None:
    again = run(load_scenario("chat-70b-h100", TIGHT), intervals=False)
    assert trace_events_json(again) == trace_events_json(outcome())
    assert np.isfinite(len(trace_events_json(again)))
