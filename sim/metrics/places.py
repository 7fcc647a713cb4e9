"""What requests wait for before they are admitted: a place in the batch, or room for their KV."""

from typing import Final, Literal

import numpy as np

from sim.metrics.percentiles import needed
from sim.metrics.quantities import engine_ttft_s, finished, rows
from sim.metrics.window import Window
from sim.records import FloatArray, RequestRecords, Simulation

Waited = Literal["places", "kv"]
"""`places`: `max_sequences`; `kv`: the KV pool."""

_TAKEN: Final = 0.95
"""Share of the places from which on they count as taken: a pass may pass before the next comes."""
_DOMINATED: Final = 0.5
"""Share of the slowest hundredth's TTFT from which on its waiting makes the p99."""


def waits_in_overload(simulation: Simulation, places: int, window: Window | None) -> Waited | None:
    """Return what the requests of an overloaded run wait for; `None`: neither, so for the passes.

    `places` are those of all replicas. Looked at when requests are admitted, while the deployment
    is saturated (without such a window: among the later half of them).
    """
    admitted_s = np.sort(_admitted_s(simulation.records))
    if not len(admitted_s):
        return None
    late = admitted_s[len(admitted_s) // 2 :]
    if window is not None:
        inside = admitted_s[(admitted_s >= window.start_s) & (admitted_s <= window.end_s)]
        late = inside if len(inside) else late
    return _full(simulation, places, late)


def waits_at_p99(simulation: Simulation, places: int, warmup: int) -> Waited | None:
    """Return what the slowest hundredth waits for, where waiting is most of its TTFT."""
    counted = rows(simulation.records, slice(warmup, simulation.measured))
    done = rows(counted, finished(counted))
    if len(done) < needed(0.99):
        return None
    ttft_s, wait_s = engine_ttft_s(done), done.admitted_s - done.arrival_s
    slowest = np.argsort(ttft_s)[-max(1, round(len(done) * 0.01)) :]
    if wait_s[slowest].sum() <= _DOMINATED * ttft_s[slowest].sum():
        return None
    return _full(simulation, places, done.admitted_s[slowest])


def waiting(waited: Waited, max_sequences: int) -> str:
    """Return in a sentence what the slowest requests wait for."""
    if waited == "kv":
        return "TTFT p99 is mostly waiting for room in the KV pool, which is full at times"
    return (
        f"TTFT p99 is mostly waiting for a place: all {max_sequences:,} (`max_sequences`) are"
        " taken at times"
    )


def _full(simulation: Simulation, places: int, times_s: FloatArray) -> Waited | None:
    records = simulation.records
    admitted_s = np.sort(_admitted_s(records))
    left_s = np.sort(records.last_token_s[finished(records)])
    running = np.searchsorted(admitted_s, times_s, side="right") - np.searchsorted(
        left_s, times_s, side="right"
    )
    if float(np.median(running)) >= _TAKEN * places:
        return "places"
    return "kv" if _kv_is_full(simulation, times_s) else None


def _kv_is_full(simulation: Simulation, times_s: FloatArray) -> bool:
    """Tell whether a mean request more would mostly not have fitted at such times.

    Goes by the KV of the requests inside: what a prefix cache keeps would give way.
    """
    leaps, records = simulation.leaps, simulation.records
    request = float((records.input_tokens + records.output_tokens).mean())
    pools = simulation.replicas * simulation.kv_pool_tokens
    if not pools or not len(leaps.start_s):
        return False
    used = np.zeros(len(times_s))
    for lane in np.unique(leaps.replica):
        own = leaps.replica == lane
        order = np.argsort(leaps.start_s[own], kind="stable")
        before = np.searchsorted(leaps.start_s[own][order], times_s, side="left") - 1
        held = leaps.kv_used_tokens[own][order]
        used += np.where(before >= 0, held[np.maximum(before, 0)], 0.0)
    lanes = simulation.replicas * simulation.lanes
    return float(np.median(used)) >= _TAKEN * (pools - lanes * request)


def _admitted_s(records: RequestRecords) -> FloatArray:
    return records.admitted_s[~np.isnan(records.admitted_s)]
