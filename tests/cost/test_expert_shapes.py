"""Rows of experts that were not timed: on the plane of the others, within their range."""

import numpy as np
import pytest

from sim.cost.expert_shapes import ExpertShape, likely_row


def _shape(width: float, ranks: float = 1.0, hidden: float = 4096.0) -> ExpertShape:
    return ExpertShape(hidden, width, 128.0 / ranks, 8.0, ranks)


WIDTHS = (128.0, 256.0, 512.0, 1024.0, 2048.0)
RANKS = (1.0, 2.0, 4.0, 8.0)
SHAPES = [_shape(width, ranks) for width in WIDTHS for ranks in RANKS]
ROWS = np.array([[0.1 * np.log2(s.intermediate / 512.0), 0.2 * np.log2(s.expert_parallel)]
                 for s in SHAPES])  # fmt: skip


def test_a_law_in_octaves_is_carried_to_a_shape_between() -> None:
    found = likely_row(SHAPES, ROWS, _shape(724.0, 4.0))  # half an octave above 512
    assert found == pytest.approx([0.05, 0.4], abs=0.02)


def test_one_shape_that_all_others_contradict_hardly_counts() -> None:
    wanted, broken = _shape(724.0, 4.0), ROWS.copy()
    broken[SHAPES.index(_shape(512.0, 4.0))] += 1.6  # five times as slow: its tuning failed
    assert likely_row(SHAPES, broken, wanted) == pytest.approx(
        likely_row(SHAPES, ROWS, wanted), abs=0.03
    )


def test_one_timing_that_all_others_contradict_hardly_counts() -> None:
    wanted, broken = _shape(724.0, 4.0), ROWS.copy()
    broken[SHAPES.index(_shape(512.0, 4.0)), 1] += 2.2  # nine times as slow: it was disturbed
    assert likely_row(SHAPES, broken, wanted) == pytest.approx(
        likely_row(SHAPES, ROWS, wanted), abs=0.03
    )


def test_no_row_leaves_the_range_of_those_that_were_timed() -> None:
    found = likely_row(SHAPES, ROWS, _shape(1e6, 64.0, hidden=65536.0))
    assert (ROWS.min(axis=0) <= found).all()
    assert (found <= ROWS.max(axis=0)).all()


def test_a_single_shape_stands_for_all() -> None:
    found = likely_row(SHAPES[:1], np.array([[0.3, -0.2]]), _shape(724.0, 4.0))
    assert found == pytest.approx([0.3, -0.2], abs=0.01)


def test_as_many_tokens_come_to_an_expert_where_twice_the_experts_see_twice_the_tokens() -> None:
    few, many = ExpertShape(4096, 512, 64, 8, 1), ExpertShape(4096, 512, 64, 8, 2)
    assert few.load_octaves - many.load_octaves == pytest.approx(1.0)
