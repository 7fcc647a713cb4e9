"""Tables of residuals: what the penalty makes of knots without points and of outliers."""

import numpy as np
import pytest

from calibration.fit.grid import Penalty, fit_grid
from calibration.fit.smooth import Smoothness, roughness, solve_blocks
from sim.cost.residuals import Grid

SIZES = tuple(2.0**octave for octave in range(10, 19))
SMOOTH = Penalty(pull=1e-6, smooth={"bytes": Smoothness(0.1)}, robust=0.1)


def test_a_straight_line_over_octaves_is_not_rough() -> None:
    penalty = roughness({"bytes": SIZES}, {"bytes": Smoothness(1.0)})
    line = 0.3 + 0.1 * np.log2(SIZES)
    assert line @ penalty @ line == pytest.approx(0.0, abs=1e-12)
    bent = np.where(np.array(SIZES) > 2**14, 1.0, 0.0)
    assert bent @ penalty @ bent == pytest.approx(2.0)  # second differences 1 and -1, squared


def test_levels_along_one_axis_do_not_touch_another() -> None:
    penalty = roughness(
        {"ranks": (2.0, 4.0), "bytes": (1024.0, 2048.0)}, {"ranks": Smoothness(1.0, order=1)}
    )
    apart = np.array([0.0, 5.0, 0.0, 5.0])  # differs over bytes alone
    assert apart @ penalty @ apart == pytest.approx(0.0)
    assert np.array([0.0, 0.0, 1.0, 1.0]) @ penalty @ np.array([0.0, 0.0, 1.0, 1.0]) == 2.0


def test_a_knot_without_points_goes_on_like_its_neighbours() -> None:
    known = np.array([size for size in SIZES if size != 2.0**14])
    errors = 0.1 * (np.log2(known) - 10.0)
    table = fit_grid({"bytes": SIZES}, {"bytes": known}, errors, penalty=SMOOTH)
    found = float(Grid.of(table).log_ratio(bytes=2.0**14))
    assert found == pytest.approx(0.4, abs=0.01)


def test_a_single_slow_timing_is_passed_by() -> None:
    sizes = np.repeat(np.array(SIZES), 1)
    errors = np.zeros(len(sizes))
    errors[4] = 1.2
    table = fit_grid({"bytes": SIZES}, {"bytes": sizes}, errors, penalty=SMOOTH)
    plain = fit_grid({"bytes": SIZES}, {"bytes": sizes}, errors, penalty=Penalty(pull=0.1))
    assert abs(float(Grid.of(table).log_ratio(bytes=2.0**14))) < 0.6
    assert float(Grid.of(plain).log_ratio(bytes=2.0**14)) > 1.0


def test_blocks_that_touch_their_neighbours_are_solved_as_the_full_matrix_is() -> None:
    rng = np.random.default_rng(0)
    near = np.abs(np.subtract.outer(np.arange(17) // 3, np.arange(17) // 3)) <= 1
    half = np.where(near, rng.normal(size=(17, 17)), 0.0)
    matrix, right = half + half.T + 20.0 * np.eye(17), rng.normal(size=17)
    # The last block is smaller than the others: 17 = 5 x 3 + 2.
    assert solve_blocks(matrix, right, 3) == pytest.approx(np.linalg.solve(matrix, right))
