"""What holds for every run: laws of what an engine wrote down, whatever it served and how."""

import numpy as np
import pytest

from sim.records import Leaps, Simulation, Status


def accounted_for(seen: Simulation) -> None:
    """Every request is waiting, running or gone, at every moment."""
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


def in_order(seen: Simulation) -> None:
    """A request arrives, is admitted, shows its first token and its last; gaps lie in between."""
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


def add_up(leap: Leaps, step: Leaps) -> None:
    """Leaps hold what the passes hold that they leap over; both runs went to the same end."""
    assert leap.passes.sum() == step.passes.sum() == len(step.passes)
    sums = ("positions", "logit_positions", "context_tokens", "pairs", "prefill_s", "draft_s")
    for name in (*sums, "duration_s"):
        whole, parts = getattr(leap, name).sum(), getattr(step, name).sum()
        assert whole == pytest.approx(parts, rel=1e-9, abs=1e-12), name
    assert (leap.sequences * leap.passes).sum() == step.sequences.sum()
    assert len(leap.capped) == len(step.capped)
    for leaping, stepping in zip(leap.capped, step.capped, strict=True):
        whole, parts = (tuple(part.sum() for part in pair) for pair in (leaping, stepping))
        assert whole == pytest.approx(parts, rel=1e-9)


def littles_law(seen: Simulation) -> None:
    """L x time, from events, is requests x W, from records, where all have come to their end."""
    series, records = seen.in_system, seen.records
    inside_s = (series.count[:-1] * np.diff(series.time_s)).sum()
    done = records.status == Status.FINISHED
    spent_s = (records.last_token_s - records.arrival_s)[done].sum()
    assert inside_s == pytest.approx(spent_s, rel=1e-9)


def alike(leap: Simulation, step: Simulation) -> None:
    """Both ways of going through the passes give every measured request the same times."""
    for name in ("arrival_s", "admitted_s", "first_token_s", "last_token_s", "max_gap_s"):
        one, other = (getattr(each.records, name)[: leap.measured] for each in (leap, step))
        np.testing.assert_allclose(one, other, rtol=1e-9, err_msg=name)
    for name in ("status", "preemptions", "cached_input_tokens", "replica", "chunks"):
        one, other = (getattr(each.records, name)[: leap.measured] for each in (leap, step))
        np.testing.assert_array_equal(one, other, err_msg=name)
