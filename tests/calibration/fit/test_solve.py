"""Coefficients of a known form are found again, with honest standard errors."""

from collections.abc import Mapping

import numpy as np
import pytest

from calibration.fit.solve import ALL, Coefficient, Rows, solve
from sim.records import FloatArray

X = np.geomspace(1e6, 1e10, 400)


def line(values: Mapping[str, float], rows: Rows = ALL) -> FloatArray:
    return values["fixed_s"] + X[rows] / (values["efficiency"] * 1e12)


COEFFICIENTS = (
    Coefficient("fixed_s", "time", 4e-6),
    Coefficient("efficiency", "efficiency", 0.6),
)
TRUE = {"fixed_s": 9e-6, "efficiency": 0.8}


def noisy(seed: int, noise: float = 0.03) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.asarray(line(TRUE) * np.exp(rng.normal(0.0, noise, len(X))))


def test_planted_coefficients_are_found_within_their_standard_errors() -> None:
    found = [solve(line, noisy(seed), COEFFICIENTS) for seed in range(20)]
    for name, true in TRUE.items():
        values = np.array([each.values[name] for each in found])
        stated = np.mean([each.standard_errors[name] for each in found])
        assert values.mean() == pytest.approx(true, rel=0.01)
        # The spread over samples is what a standard error predicts (20 samples: ± 40 % of it).
        assert 0.6 * stated < values.std(ddof=1) < 1.6 * stated


def test_one_row_in_fifty_that_is_ten_times_too_slow_does_not_steer() -> None:
    measured = noisy(0)
    measured[::50] *= 10.0
    found = solve(line, measured, COEFFICIENTS)
    assert found.values["efficiency"] == pytest.approx(0.8, rel=0.03)


def test_a_coefficient_that_leans_on_a_bound_is_named() -> None:
    measured = TRUE["fixed_s"] + X / (1.4 * 1e12)  # more than the whole bandwidth
    found = solve(
        line, measured, (COEFFICIENTS[0], Coefficient("efficiency", "efficiency", 0.8, 5.0))
    )
    assert found.values["efficiency"] <= 1.0
    assert found.at_bound == ("efficiency",)


def test_without_data_the_prior_stays() -> None:
    few = np.array([0, 1])

    def two(values: Mapping[str, float], rows: Rows) -> FloatArray:
        return np.asarray(line(values)[few][rows])

    narrow = (
        Coefficient("fixed_s", "time", 9e-6, 0.3),
        Coefficient("efficiency", "efficiency", 0.37, 0.3),
    )
    found = solve(two, line(TRUE)[few], narrow)
    assert found.values["efficiency"] == pytest.approx(0.37, rel=0.05)


def test_a_form_that_misses_its_data_moves_less_from_its_prior() -> None:
    def level(values: Mapping[str, float], rows: Rows = ALL) -> FloatArray:
        return np.full(6, values["fixed_s"])[rows]

    def moved(offset: float, scatter: float) -> float:
        """How far from the prior, 10 µs, to data around `offset` above it (logarithms)."""
        signs = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
        measured = 1e-5 * np.exp(offset + scatter * signs)
        found = solve(level, measured, (Coefficient("fixed_s", "time", 1e-5, 0.3),))
        return float(np.log(found.values["fixed_s"] / 1e-5))

    # Exact data: six points of 10 % noise against a prior of 30 %.
    assert moved(1.0, 0.0) == pytest.approx(1 - (0.1 / 0.3) ** 2 / 6, abs=0.01)
    # Sizes of 0.4 make a standard deviation of 0.5: a datum tells 1 / 0.25, and the loss gives it
    # 1 / (0.01 x (1 + 0.4 / 0.1)), five times as much. With a prior that is believed so much the
    # more, the slopes at x of the loss, 300 (e / (1 + e / 0.1)) for the errors e of 0.5 - x and
    # -(0.3 + x), and of the prior, 5.03 x / 0.09, are equal at 0.0305.
    assert moved(0.1, 0.4) == pytest.approx(0.0305, abs=0.003)
