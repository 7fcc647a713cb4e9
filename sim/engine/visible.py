"""When the user sees what: gaps between chunks, worked out from the leaps after the run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.engine.log import Log
from sim.engine.seen import every_pass_seen
from sim.engine.track import Track, range_max
from sim.records import FloatArray, IntArray, Leaps, Status, WeightedSamples

_POINTS, _MOST_POINTS = 8, 8_000_000
"""A leap's pass times lie on a line: this many points stand for all of them in the pooled
distribution; fewer where there would be more of them in all.
"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What `gaps_and_first_chunks` finds; one entry a row, NaN where there is none."""

    first_visible_s: FloatArray
    max_gap_s: FloatArray
    gaps: WeightedSamples


def gaps_and_first_chunks(
    log: Log,
    leaps: Leaps,
    first_token_s: FloatArray,
    status: IntArray,
    measured: NDArray[np.bool_],
) -> Seen:
    """Return first visible times, longest gaps, and the pooled gaps of finished measured rows."""
    rows = len(first_token_s)
    first_visible_s, max_gap_s = first_token_s.copy(), np.full(rows, np.nan)
    stints, since_s = log.stints, np.frombuffer(log.habits.since_s)
    counted = measured & (status == Status.FINISHED)
    values: list[FloatArray] = []
    weights: list[FloatArray] = []
    for replica in np.unique(stints[:, 1]):
        track = Track.of(leaps, int(replica), log)
        here = stints[:, 1] == replica
        mine = stints[here]
        each_pass = (mine[:, 4] == 1) & ~np.isnan(first_token_s[mine[:, 0]])
        each_pass &= not log.habits.by_chunk
        by_pass, by_chunk = mine[each_pass], mine[~each_pass]
        if len(since_s):
            since = since_s[here][each_pass]
            every_pass_seen(
                track, by_pass, since, max_gap_s, counted, values=values, weights=weights
            )
        else:
            _every_pass(
                *(track, by_pass, max_gap_s, counted),
                most_points=max(1, min(_POINTS, _MOST_POINTS // len(leaps.passes))),
                values=values,
                weights=weights,
            )
        _by_chunk(
            track,
            by_chunk,
            [(row, at_s) for where, row, at_s in log.habits.shown if where == replica],
            first_visible_s=first_visible_s,
            max_gap_s=max_gap_s,
            counted=counted,
            values=values,
        )
        weights.extend(np.ones(len(v)) for v in values[len(weights) :])
    for row, gap_s in log.pauses:
        max_gap_s[row] = np.fmax(max_gap_s[row], gap_s)
    pauses = np.array([gap_s for row, gap_s in log.pauses if counted[row]])
    pooled = WeightedSamples(
        np.concatenate([*values, pauses]), np.concatenate([*weights, np.ones(len(pauses))])
    )
    return Seen(first_visible_s, max_gap_s, pooled)


def _every_pass(
    track: Track,
    stints: IntArray,
    max_gap_s: FloatArray,
    counted: NDArray[np.bool_],
    *,
    most_points: int,
    values: list[FloatArray],
    weights: list[FloatArray],
) -> None:
    """Strategies that go on from the prefill's token each pass: a gap is a pass, shared by all."""
    if not len(stints):
        return
    row = stints[:, 0]
    low, high = track.leap_of(stints[:, 2]), track.leap_of(stints[:, 3] - 1)
    last_s = track.first_s + track.slope_s * (track.passes - 1)
    longest = range_max(np.maximum(track.first_s, last_s), low, high + 1)
    np.fmax.at(max_gap_s, row, longest)
    change = np.zeros(len(track.passes) + 1)
    mine = counted[row]
    np.add.at(change, low[mine], 1.0)
    np.add.at(change, high[mine] + 1, -1.0)
    watchers = np.cumsum(change)[:-1]
    points = np.where(watchers > 0, np.minimum(track.passes, most_points), 0)
    leap = np.repeat(np.arange(len(points)), points)
    index = np.arange(len(leap)) - np.repeat(np.cumsum(points) - points, points)
    share = (index + 0.5) / points[leap]
    position = share * track.passes[leap] - 0.5
    values.append(track.first_s[leap] + track.slope_s[leap] * position)
    weights.append((watchers * track.passes)[leap] / points[leap])


def _by_chunk(
    track: Track,
    stints: IntArray,
    shown: list[tuple[int, float]],
    *,
    first_visible_s: FloatArray,
    max_gap_s: FloatArray,
    counted: NDArray[np.bool_],
    values: list[FloatArray],
) -> None:
    """Strategies that show a chunk every few passes: chunk times, then differences.

    `shown` are (row, time) of chunks besides: of a prefill, or of what is left at the end.
    """
    if not len(stints) and not shown:
        return
    row, first, end, per_chunk, before = (stints[:, i] for i in (0, 2, 3, 4, 5))
    chunks = (before + end - first) // per_chunk - before // per_chunk
    stint = np.repeat(np.arange(len(chunks)), chunks)
    number = np.arange(len(stint)) - np.repeat(np.cumsum(chunks) - chunks, chunks)
    to_first = per_chunk - before % per_chunk
    at_pass = first[stint] + to_first[stint] + number * per_chunk[stint] - 1
    seen_s = np.concatenate([track.end_s(at_pass), [at_s for _, at_s in shown]])
    seen_row = np.concatenate([row[stint], np.array([row for row, _ in shown], dtype=np.int64)])
    order = np.lexsort((seen_s, seen_row))
    seen_s, seen_row = seen_s[order], seen_row[order]
    np.fmin.at(first_visible_s, seen_row, seen_s)
    same = seen_row[1:] == seen_row[:-1]
    gap_s, gap_row = np.diff(seen_s)[same], seen_row[1:][same]
    np.fmax.at(max_gap_s, gap_row, gap_s)
    values.append(gap_s[counted[gap_row]])
