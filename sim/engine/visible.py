"""When the user sees what: gaps between chunks, worked out from the leaps after the run."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.engine.log import Log
from sim.records import FloatArray, IntArray, Leaps, Status, WeightedSamples

_POINTS, _MOST_POINTS = 8, 4_000_000
"""A leap's pass times lie on a line: this many points stand for all of them in the pooled
distribution.
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
    stints = log.stints
    counted = measured & (status == Status.FINISHED)
    values: list[FloatArray] = []
    weights: list[FloatArray] = []
    for replica in np.unique(stints[:, 1]):
        track = _Track.of(leaps, int(replica))
        mine = stints[stints[:, 1] == replica]
        each_pass = (mine[:, 4] == 1) & ~np.isnan(first_token_s[mine[:, 0]])
        by_pass, by_chunk = mine[each_pass], mine[~each_pass]
        _every_pass(track, by_pass, max_gap_s, counted, values=values, weights=weights)
        _by_chunk(
            track,
            by_chunk,
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


@dataclass(frozen=True, slots=True)
class _Track:
    """The leaps of one replica with the pass count at which each starts."""

    first_pass: IntArray
    start_s: FloatArray
    first_s: FloatArray
    slope_s: FloatArray
    passes: IntArray

    @classmethod
    def of(cls, leaps: Leaps, replica: int) -> "_Track":
        mine = leaps.replica == replica
        passes = leaps.passes[mine]
        return cls(
            first_pass=np.cumsum(passes) - passes,
            start_s=leaps.start_s[mine],
            first_s=leaps.first_s[mine],
            slope_s=leaps.slope_s[mine],
            passes=passes,
        )

    def leap_of(self, passes: IntArray) -> IntArray:
        """Index of the leap that holds each pass."""
        return np.searchsorted(self.first_pass, passes, side="right") - 1

    def end_s(self, passes: IntArray) -> FloatArray:
        """Time at which each pass (by its index) ends."""
        leap = self.leap_of(passes)
        number = (passes - self.first_pass[leap] + 1).astype(np.float64)
        slope = self.slope_s[leap] * (number * (number - 1) / 2)
        return self.start_s[leap] + number * self.first_s[leap] + slope


def _every_pass(
    track: _Track,
    stints: IntArray,
    max_gap_s: FloatArray,
    counted: NDArray[np.bool_],
    *,
    values: list[FloatArray],
    weights: list[FloatArray],
) -> None:
    """Strategies that go on from the prefill's token each pass: a gap is a pass, shared by all."""
    if not len(stints):
        return
    row = stints[:, 0]
    low, high = track.leap_of(stints[:, 2]), track.leap_of(stints[:, 3] - 1)
    last_s = track.first_s + track.slope_s * (track.passes - 1)
    longest = _range_max(np.maximum(track.first_s, last_s), low, high + 1)
    np.fmax.at(max_gap_s, row, longest)
    change = np.zeros(len(track.passes) + 1)
    mine = counted[row]
    np.add.at(change, low[mine], 1.0)
    np.add.at(change, high[mine] + 1, -1.0)
    watchers = np.cumsum(change)[:-1]
    most = max(1, min(_POINTS, _MOST_POINTS // len(track.passes)))
    points = np.minimum(track.passes, most)
    leap = np.repeat(np.arange(len(points)), points)
    index = np.arange(len(leap)) - np.repeat(np.cumsum(points) - points, points)
    share = (index + 0.5) / points[leap]
    position = share * track.passes[leap] - 0.5
    values.append(track.first_s[leap] + track.slope_s[leap] * position)
    weights.append((watchers * track.passes / points)[leap])


def _by_chunk(
    track: _Track,
    stints: IntArray,
    *,
    first_visible_s: FloatArray,
    max_gap_s: FloatArray,
    counted: NDArray[np.bool_],
    values: list[FloatArray],
) -> None:
    """Strategies that show a chunk every few passes: chunk times, then differences."""
    if not len(stints):
        return
    row, first, end, per_chunk, before = (stints[:, i] for i in (0, 2, 3, 4, 5))
    chunks = (before + end - first) // per_chunk - before // per_chunk
    stint = np.repeat(np.arange(len(chunks)), chunks)
    number = np.arange(len(stint)) - np.repeat(np.cumsum(chunks) - chunks, chunks)
    to_first = per_chunk - before % per_chunk
    at_pass = first[stint] + to_first[stint] + number * per_chunk[stint] - 1
    seen_s, seen_row = track.end_s(at_pass), row[stint]
    order = np.lexsort((seen_s, seen_row))
    seen_s, seen_row = seen_s[order], seen_row[order]
    np.fmin.at(first_visible_s, seen_row, seen_s)
    same = seen_row[1:] == seen_row[:-1]
    gap_s, gap_row = np.diff(seen_s)[same], seen_row[1:][same]
    np.fmax.at(max_gap_s, gap_row, gap_s)
    values.append(gap_s[counted[gap_row]])


def _range_max(values: FloatArray, low: IntArray, high: IntArray) -> FloatArray:
    """Return the maximum of `values[low:high]` for each pair: a sparse table by levels."""
    result = np.full(len(low), -np.inf)
    length = high - low
    level, table = 1, values
    while level <= (length.max() if len(length) else 0):
        use = (length >= level) & (length < 2 * level)
        if use.any():
            result[use] = np.maximum(table[low[use]], table[high[use] - level])
        table = np.maximum(table[:-level], table[level:]) if len(table) > level else table
        level *= 2
    return result
