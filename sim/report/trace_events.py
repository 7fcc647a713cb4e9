"""A run as Chrome trace events, which ui.perfetto.dev opens: replicas with passes, and requests.

Form: the Trace Event Format of the Chromium project (JSON object format). A replica is a process
with a thread of complete events (`X`) for the leaps of each of its lanes, counters (`C`), and its
requests as nestable asynchronous events (`b`, `e`): queued, prefill, decode, preempted.
Timestamps are µs.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from sim import __version__
from sim.metrics.quantities import BoolArray
from sim.records import FloatArray, IntArray, Leaps, RequestRecords, Simulation, Status
from sim.run import Outcome
from sim.units import US_PER_S

MOST_EVENTS: Final = 200_000
"""About 30 MB: more makes a browser slow. What comes later is left out, and the file says so."""
_NOBODY: Final = 1_000_000
_PER_LEAP: Final = 2
_PER_REQUEST: Final = 8

Event = dict[str, Any]


def trace_events_json(outcome: Outcome, *, most_events: int = MOST_EVENTS) -> bytes:
    """Return the events of a run, from its start for as long as `most_events` allows."""
    simulation = outcome.simulation
    until_s = _until_s(simulation, most_events)
    events = [*_processes(simulation), *_leaps(simulation, until_s)]
    events += _requests(simulation, until_s)
    end_s = float(np.max(simulation.leaps.start_s + simulation.leaps.duration_s, initial=0.0))
    document = {
        "displayTimeUnit": "ms",
        "otherData": {
            "made_by": f"paretoken {__version__}",
            "scenario": outcome.scenario.name,
            "seed": outcome.scenario.run.seed,
            "run_s": end_s,
            "shown_until_s": min(until_s, end_s),
        },
        "traceEvents": events,
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode()


def _until_s(simulation: Simulation, most_events: int) -> float:
    """Return when the events that have begun are as many as allowed, s; inf: they never are."""
    came = simulation.records.arrival_s
    came = came[~np.isnan(came)]
    starts = np.concatenate([simulation.leaps.start_s, came])
    stints = np.bincount(simulation.stints[:, 0], minlength=len(simulation.records))
    again = 2 * np.maximum(stints - 1, 0)[~np.isnan(simulation.records.arrival_s)] * 2
    costs = np.concatenate(
        [np.full(len(simulation.leaps.start_s), _PER_LEAP), _PER_REQUEST + again]
    )
    order = np.argsort(starts, kind="stable")
    over = np.cumsum(costs[order]) > most_events
    return float(starts[order][np.argmax(over)]) if over.any() else float("inf")


def _pid(replica: int) -> int:
    """Return the process of a replica: 1 and up; a far one for requests that none has served."""
    return replica + 1 if replica >= 0 else _NOBODY


def _us(time_s: float) -> float:
    return round(time_s * US_PER_S, 3)


def _processes(simulation: Simulation) -> Iterator[Event]:
    lost = (simulation.records.replica < 0) & (simulation.records.status == Status.UNFINISHED)
    for replica in range(-1 if lost.any() else 0, simulation.replicas):
        name = "not served" if replica < 0 else f"replica {replica}"
        yield _metadata("process_name", replica, {"name": name})
        yield _metadata("process_sort_index", replica, {"sort_index": _pid(replica)})
        for lane in range(simulation.lanes if replica >= 0 else 0):
            label = {"name": "passes" + _of_lane(simulation, lane)}
            yield _metadata("thread_name", replica, label, lane)


def _of_lane(simulation: Simulation, lane: int) -> str:
    """Return how to tell a lane from the others; nothing where there is one."""
    return f" of lane {lane}" if simulation.lanes > 1 else ""


def _metadata(name: str, replica: int, arguments: Event, lane: int = 0) -> Event:
    return {"ph": "M", "name": name, "pid": _pid(replica), "tid": lane + 1, "args": arguments}


def _leaps(simulation: Simulation, until_s: float) -> Iterator[Event]:
    """Yield a slice for each stretch of passes that are alike, and what it holds as counters."""
    leaps: Leaps = simulation.leaps
    shown = np.flatnonzero(leaps.start_s < until_s)
    columns = (
        leaps.replica, leaps.start_s, leaps.duration_s, leaps.passes, leaps.sequences,
        leaps.positions, leaps.prefill_s, leaps.kv_used_tokens,
    )  # fmt: skip
    for row in zip(*(column[shown].tolist() for column in columns), strict=True):
        track, start_s, took_s, passes, sequences, positions, prefill_s, held = row
        replica, lane = divmod(track, simulation.lanes)
        kind = "prefill" if prefill_s > 0 else "decode"
        many = "1 pass" if passes == 1 else f"{passes} passes"
        place = {"pid": _pid(replica), "tid": lane + 1}
        yield {
            **place,
            "ph": "X",
            "cat": "pass",
            "name": f"{kind}: {many} of {sequences:g}",
            "ts": _us(start_s),
            "dur": _us(took_s),
            "args": {
                "passes": passes,
                "sequences": sequences,
                "tokens_per_pass": positions / passes,
                "mean_pass_ms": took_s / passes * 1e3,
            },
        }
        counted = {"running": sequences, "kv_used_tokens": held}
        name = "load" + _of_lane(simulation, lane)
        yield {**place, "ph": "C", "name": name, "ts": _us(start_s), "args": counted}


@dataclass(frozen=True, slots=True)
class _Life:
    """One request as stretches of time, s."""

    request: int
    replica: int
    stretches: list[tuple[str, float, float]]
    facts: Event

    def events(self) -> Iterator[Event]:
        """Yield the request with its stretches inside, as nestable asynchronous events."""
        same = {"cat": "request", "id": self.request, "pid": _pid(self.replica), "tid": 1}
        whole = ("request", self.stretches[0][1], self.stretches[-1][2])
        yield {**same, "ph": "b", "name": whole[0], "ts": _us(whole[1]), "args": self.facts}
        for name, start_s, end_s in self.stretches:
            yield {**same, "ph": "b", "name": name, "ts": _us(start_s)}
            yield {**same, "ph": "e", "name": name, "ts": _us(end_s)}
        yield {**same, "ph": "e", "name": whole[0], "ts": _us(whole[2])}


def _requests(simulation: Simulation, until_s: float) -> Iterator[Event]:
    records = simulation.records
    let_in = (records.status != Status.REJECTED) & ~np.isnan(records.arrival_s)
    shown = np.flatnonzero(let_in & (records.arrival_s < until_s))
    end_s = float(np.max(simulation.leaps.start_s + simulation.leaps.duration_s, initial=0.0))
    decoding = _decoding(simulation, let_in & (records.arrival_s < until_s))
    for row in shown.tolist():
        yield from _life(records, row, decoding.get(row, []), end_s).events()


def _life(
    records: RequestRecords, row: int, decoding: list[tuple[float, float]], end_s: float
) -> _Life:
    """Return the stretches of a request; what has not ended lasts until the end of the run."""
    arrival_s, admitted_s = float(records.arrival_s[row]), float(records.admitted_s[row])
    last_s = float(records.last_token_s[row])
    gone_s = max(arrival_s, end_s) if np.isnan(last_s) else last_s
    stretches = [("queued", arrival_s, gone_s if np.isnan(admitted_s) else admitted_s)]
    if not np.isnan(admitted_s):
        first_s = float(records.first_token_s[row])
        # One that is still being decoded at the end has shown a token, and no stint is complete.
        begins_s = decoding[0][0] if decoding else gone_s if np.isnan(first_s) else first_s
        stretches.append(("prefill", admitted_s, begins_s))
        if not decoding and begins_s < gone_s:
            stretches.append(("decode", begins_s, gone_s))
    for place, (start_s, stop_s) in enumerate(decoding):
        since_s = decoding[place - 1][1]
        # Phases of one plan follow each other without a break: they are one stretch.
        if place and not (records.preemptions[row] and start_s > since_s):
            stretches[-1] = ("decode", stretches[-1][1], stop_s)
            continue
        if place:
            stretches.append(("preempted", since_s, start_s))
        stretches.append(("decode", start_s, stop_s))
    if decoding and np.isnan(last_s):
        stretches.append(("unfinished", decoding[-1][1], gone_s))
    facts = {
        "request": row,
        "input_tokens": int(records.input_tokens[row]),
        "output_tokens": int(records.output_tokens[row]),
        "status": Status(int(records.status[row])).name.lower(),
        "preemptions": int(records.preemptions[row]),
    }
    return _Life(row, int(records.replica[row]), stretches, facts)


def _decoding(simulation: Simulation, shown: BoolArray) -> dict[int, list[tuple[float, float]]]:
    """Return when each request decoded, [s, s] a stint, from the decode passes of its lane."""
    found: dict[int, list[tuple[float, float]]] = {}
    stints, leaps = simulation.stints[shown[simulation.stints[:, 0]]], simulation.leaps
    decodes = np.ones(len(leaps.passes), dtype=bool)
    decodes[simulation.standing] = False
    for lane in np.unique(stints[:, 1]):
        mine = stints[stints[:, 1] == lane]
        here = decodes & (leaps.replica == lane)
        before_s, end_s = (_pass_end_s(leaps, here, mine[:, column] - 1) for column in (2, 3))
        start_s = before_s
        if len(simulation.standing):  # it may have joined while the others stood still
            own_s = _pass_start_s(leaps, here, mine[:, 2])
            first_s = simulation.records.first_token_s[mine[:, 0]]
            shown_s = np.where(np.isnan(first_s), own_s, first_s)
            start_s = np.where(shown_s >= before_s, np.minimum(shown_s, own_s), own_s)
        for row, begins_s, ends_s in zip(
            mine[:, 0].tolist(), start_s.tolist(), end_s.tolist(), strict=True
        ):
            found.setdefault(row, []).append((begins_s, ends_s))
    return {row: sorted(times) for row, times in found.items()}


def _pass_start_s(leaps: Leaps, here: BoolArray, numbers: IntArray) -> FloatArray:
    """Return when the passes begin, by their numbers among the leaps `here`, s."""
    leap, number = _place(leaps, here, numbers)
    return _after_s(leaps, here, leap, number)


def _pass_end_s(leaps: Leaps, here: BoolArray, numbers: IntArray) -> FloatArray:
    """Return when the passes end, s; that before the first of all: when the first begins."""
    leap, number = _place(leaps, here, np.maximum(numbers, 0))
    return _after_s(leaps, here, leap, number + (numbers >= 0))


def _place(leaps: Leaps, here: BoolArray, numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Return the leap (among those `here`) of each pass, and its number in there, from 0."""
    passes = leaps.passes[here]
    first = np.cumsum(passes) - passes
    leap = np.searchsorted(first, numbers, side="right") - 1
    return leap, numbers - first[leap]


def _after_s(leaps: Leaps, here: BoolArray, leap: IntArray, done: IntArray) -> FloatArray:
    """Return the time at which so many passes of each leap are over, s."""
    sloped = leaps.slope_s[here][leap] * (done * (done - 1) / 2)
    return np.asarray(leaps.start_s[here][leap] + done * leaps.first_s[here][leap] + sloped)
