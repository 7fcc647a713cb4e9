"""The table of experts: what few timings change of a sister's."""

import numpy as np
import pytest

from calibration.fit.shapes import ShapeRows
from calibration.fit.unseen import Unseen
from sim.cost.expert_shapes import ExpertShape
from sim.cost.residuals import ShapeTable
from sim.hardware.residual import ExpertShapes

TIMED, OTHER = ExpertShape(4096, 512, 64, 8, 2), ExpertShape(4096, 1024, 64, 8, 2)
SISTER = ExpertShapes(
    tokens=(1, 64, 4096),
    shapes="4096 512 64 8 2 3 | 10 20 30\n4096 1024 64 8 2 3 | 40 50 60",
)


def _fitted(prior: ExpertShapes | None) -> ShapeTable:
    rows = ShapeRows([TIMED], np.array([0]), np.array([64.0]), prior)
    found = rows.fit(np.array([0.5]), np.array([True]))
    assert isinstance(found, ExpertShapes)
    return ShapeTable.of(found)


def test_one_timing_shifts_the_sisters_row_of_its_shape_and_leaves_the_others() -> None:
    table = _fitted(SISTER)
    octaves = np.log2([1.0, 64.0, 4096.0])
    # 0.5 where the sister has 0.2: 0.3 more everywhere
    assert table.curve(TIMED).at(octaves) == pytest.approx([0.4, 0.5, 0.6], abs=0.006)
    assert table.curve(OTHER).at(octaves) == pytest.approx([0.4, 0.5, 0.6], abs=0.006)


def test_without_a_sister_a_row_is_what_was_timed() -> None:
    table = _fitted(None)
    assert not table.holds(OTHER)
    assert table.curve(TIMED).at(np.array([0.0, 12.0])) == pytest.approx([0.5, 0.5])


def test_the_error_of_few_timings_says_how_well_it_is_known() -> None:
    measured, tested = np.ones(4), np.ones(4, dtype=bool)
    predicted = 1.0 + np.array([0.1, -0.2, 0.3, -0.4])
    few = Unseen(predicted, predicted, tested)
    assert few.error(measured) == pytest.approx(0.25)
    # The sizes' own deviation is 0.129; as if distributed exponentially it is their mean, 0.25.
    assert few.spread(measured) == pytest.approx(0.125, abs=1e-4)
    wide = 1.0 + np.array([0.0, 0.0, 0.0, 0.8])  # mean 0.2, deviation 0.4
    assert Unseen(wide, wide, tested).spread(measured) == pytest.approx(0.2, abs=1e-4)


def test_fits_that_share_their_timings_tell_less_than_their_number() -> None:
    """Nadeau and Bengio 2003: 1/J + n_test / n_fit for 1/J; by thirds (1/3 + 1/2) / (1/3)."""
    measured, tested = np.ones(4), np.ones(4, dtype=bool)
    predicted = 1.0 + np.array([0.1, -0.2, 0.3, -0.4])
    thirds = Unseen(predicted, predicted, tested, shared=1.5)
    assert thirds.spread(measured) == pytest.approx(0.125 * 2.5**0.5, abs=1e-4)
