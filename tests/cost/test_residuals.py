"""Tables of residuals: right at their knots, linear between, gone an octave beyond."""

from math import exp

import numpy as np
import pytest
from pydantic import ValidationError

from sim.cost.expert_shapes import ExpertShape
from sim.cost.residuals import Curve, Grid, Plane, ShapeTable
from sim.hardware.residual import Axis, ExpertShapes, Residual

GRID = Residual(
    axes=(Axis(of="tokens", at=(1, 4, 16)), Axis(of="outer", at=(1024, 4096))),
    hundredths="0 10\n20 30\n-40 50",
)


def test_a_knot_has_its_own_value_and_the_middle_the_mean() -> None:
    grid = Grid.of(GRID)
    assert float(grid.log_ratio(tokens=4.0, outer=4096.0)) == pytest.approx(0.30)
    assert float(grid.log_ratio(tokens=2.0, outer=1024.0)) == pytest.approx(0.10)
    assert float(grid.log_ratio(tokens=8.0, outer=2048.0)) == pytest.approx(0.15)


def test_a_curve_and_a_plane_are_cuts_of_the_grid() -> None:
    grid = Grid.of(GRID)
    tokens = np.array([1.0, 3.0, 5.0, 16.0, 24.0])
    curve, plane = grid.along("tokens", outer=2000.0), Plane.of(grid, "tokens", "outer")
    for at, factor in zip(tokens, np.asarray(curve.factor(tokens)), strict=True):
        expected = exp(float(grid.log_ratio(tokens=float(at), outer=2000.0)))
        assert factor == pytest.approx(expected)
        assert plane.factor(float(at), 2000.0) == pytest.approx(expected)


def test_beyond_the_table_it_fades_to_the_form_within_an_octave() -> None:
    curve = Curve(np.log2(np.array([8.0, 64.0])), np.array([0.2, 0.4]))
    assert float(curve.factor(64.0)) == pytest.approx(exp(0.4))
    assert float(curve.factor(64.0 * 2**0.5)) == pytest.approx(exp(0.2))
    assert float(curve.factor(128.0)) == 1.0
    assert float(curve.factor(1.0)) == 1.0


SHAPES = ExpertShapes(
    tokens=(1, 64),
    shapes="4096 1536 128 8 1 3 | 10 20\n4096 768 128 8 1 3 | 30 40\n4096 1536 128 8 1 2 | 90 90",
)


def test_a_shape_that_was_timed_has_its_own_row() -> None:
    table = ShapeTable.of(SHAPES)
    shape = ExpertShape(4096, 768, 128, 8, 1)
    assert table.holds(shape)
    assert float(table.curve(shape).factor(8.0)) == pytest.approx(exp(0.35))


def test_another_shape_takes_after_its_neighbours_and_not_after_strangers() -> None:
    table = ShapeTable.of(SHAPES)
    between = ExpertShape(4096, 1086, 128, 8, 1)  # half an octave from either
    assert not table.holds(between)
    assert float(table.curve(between).factor(1.0)) == pytest.approx(exp(0.2), rel=0.03)


@pytest.mark.parametrize(
    ("hundredths", "said"),
    [
        ("1 2 3", "6 numbers, found 3"),
        ("1 2 3 4 5 x", "invalid literal"),
        ("1 2 3 4 5 999", "beyond"),
    ],
)
def test_a_table_that_is_not_whole_is_refused(hundredths: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Residual(axes=GRID.axes, hundredths=hundredths)


def test_knots_rise_and_rows_of_experts_are_complete() -> None:
    with pytest.raises(ValidationError, match="should rise"):
        Axis(of="tokens", at=(4, 1))
    with pytest.raises(ValidationError, match="without six sizes"):
        ExpertShapes(tokens=(1, 64), shapes="4096 1536 128 8 1 | 10 20")
    with pytest.raises(ValidationError, match="2 numbers a line"):
        ExpertShapes(tokens=(1, 64), shapes="4096 1536 128 8 1 3 | 10")
