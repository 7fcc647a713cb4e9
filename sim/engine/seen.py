"""Gaps between tokens where passes may stand between decode passes, or tokens be seen late."""

import numpy as np
from numpy.typing import NDArray

from sim.engine.track import Track, range_max
from sim.records import FloatArray, IntArray

_POINTS = 8
"""Points that stand for the gaps inside a leap in the pooled distribution; their sum is exact."""


def every_pass_seen(
    track: Track,
    stints: IntArray,
    since_s: FloatArray,
    max_gap_s: FloatArray,
    counted: NDArray[np.bool_],
    *,
    values: list[FloatArray],
    weights: list[FloatArray],
) -> None:
    """Add the gaps of sequences that show a token each pass.

    A stint's first gap is its own: from `since_s`, when the token before it was seen. The others
    are shared by all who decode: between two leaps, and inside one.
    """
    if not len(stints):
        return
    row, first, end = stints[:, 0], stints[:, 2], stints[:, 3]
    low, high = track.leap_of(first), track.leap_of(end - 1)
    leaps = np.arange(len(track.passes))
    own_s = track.end_s(first) - since_s
    lead_s = np.full(len(leaps), -np.inf)
    starts = track.first_pass[1:]
    lead_s[1:] = track.end_s(starts) - track.end_s(starts - 1)
    last_s = np.full(len(leaps), -np.inf)  # the longest inside a leap: gaps never shrink there
    long = track.passes > 1
    final = (track.first_pass + track.passes - 1)[long]
    last_s[long] = track.end_s(final) - track.end_s(final - 1)
    np.fmax.at(max_gap_s, row, own_s)
    np.fmax.at(max_gap_s, row, range_max(lead_s, low + 1, high + 1))
    np.fmax.at(max_gap_s, row, range_max(last_s, low, high + 1))

    mine = counted[row]
    values.append(own_s[mine])
    weights.append(np.ones(int(mine.sum())))
    watchers = _count(low[mine], high[mine], len(leaps))
    values.append(lead_s[1:])
    weights.append((watchers - np.bincount(low[mine], minlength=len(leaps)))[1:])
    inside_s, share = _inside(track, leaps[long])
    values.append(inside_s)
    weights.append(np.repeat(watchers[long], _points(track, long)) * share)


def _count(low: IntArray, high: IntArray, leaps: int) -> FloatArray:
    """Return how many stints go over each leap."""
    change = np.bincount(low, minlength=leaps + 1).astype(np.float64)
    change -= np.bincount(high + 1, minlength=leaps + 1)
    return np.cumsum(change)[:leaps]


def _points(track: Track, leaps: NDArray[np.bool_] | IntArray) -> IntArray:
    return np.minimum(track.passes[leaps] - 1, _POINTS)


def _inside(track: Track, leaps: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return gaps inside each leap at equal distances, and how many gaps each stands for."""
    points, gaps = _points(track, leaps), track.passes[leaps] - 1
    which = np.repeat(np.arange(len(leaps)), points)
    index = np.arange(len(which)) - np.repeat(np.cumsum(points) - points, points)
    share = (gaps / points)[which]
    leap = leaps[which]
    number = 2.0 + (index + 0.5) * share - 0.5
    gap_s = _seen_after(track, leap, number) - _seen_after(track, leap, number - 1.0)
    whole_s = _seen_after(track, leaps, track.passes[leaps].astype(np.float64))
    whole_s -= _seen_after(track, leaps, np.ones(len(leaps)))
    drawn_s = np.bincount(which, weights=gap_s * share, minlength=len(leaps))
    factor = np.where(drawn_s > 0, whole_s / np.where(drawn_s > 0, drawn_s, 1.0), 1.0)
    return gap_s * factor[which], share


def _seen_after(track: Track, leap: IntArray, number: FloatArray) -> FloatArray:
    took_s = track.took_s(leap, number)
    return took_s + track.delay_s(leap, number, took_s)
