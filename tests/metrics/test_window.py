from collections.abc import Callable

import numpy as np
import pytest

from sim.metrics.window import (
    LittlesLaw,
    Window,
    littles_law,
    measurement_window,
    share_inside,
    time_average,
)
from sim.records import Leaps, RequestRecords, Simulation, Status, StepSeries

NAN = float("nan")


def test_a_count_is_averaged_exactly_over_the_window() -> None:
    # 0 until 1, then 2 until 3, then 1 until 6, then 0; over [2, 8]: (2*1 + 1*3 + 0*2) / 6.
    series = StepSeries(np.array([1.0, 3.0, 6.0]), np.array([2, 1, 0]))
    assert time_average(series, Window(2, 8, steady_state=True)) == pytest.approx(5 / 6)
    assert time_average(series, Window(0, 1, steady_state=True)) == 0
    assert time_average(series, Window(0, 2, steady_state=True)) == pytest.approx(1.0)


def test_littles_law_holds_exactly_where_the_system_starts_and_ends_empty(
    a_records: Callable[..., RequestRecords], a_simulation: Callable[..., Simulation]
) -> None:
    # Times inside 3, 2 and 4 over a window of 0 to 8: L = 9/8 = 3/8 per second x 3 s.
    records = a_records([0.0, 2.0, 4.0], last_token_s=[3.0, 4.0, 8.0])
    window = measurement_window(records, steady_state=False)
    law = littles_law(a_simulation(records), window)
    assert law.lhs == pytest.approx(9 / 8)
    assert law.rhs == pytest.approx(9 / 8)


def test_littles_law_counts_the_unfinished_as_long_as_they_are_seen(
    a_records: Callable[..., RequestRecords], a_simulation: Callable[..., Simulation]
) -> None:
    records = a_records(
        [0.0, 2.0], last_token_s=[3.0, NAN], status=[Status.FINISHED, Status.UNFINISHED]
    )
    law = littles_law(a_simulation(records), measurement_window(records, steady_state=False))
    assert law.lhs == pytest.approx((3 + 1) / 3)
    assert law.rhs == pytest.approx((3 + 1) / 3)


def test_littles_law_holds_exactly_where_the_window_cuts_requests_at_both_ends(
    a_records: Callable[..., RequestRecords], a_simulation: Callable[..., Simulation]
) -> None:
    # Inside [2, 5]: 1 s of the first request, 2 s of the second, 1 s of the third, none of the
    # rejected one.
    records = a_records(
        [0.0, 3.0, 4.0, 4.5],
        last_token_s=[3.0, 9.0, 8.0, NAN],
        status=[Status.FINISHED, Status.FINISHED, Status.FINISHED, Status.REJECTED],
    )
    law = littles_law(a_simulation(records), Window(2, 5, steady_state=True))
    assert law.rhs == pytest.approx((1 + 2 + 1) / 3)
    assert law.lhs == pytest.approx(law.rhs)


def test_the_steady_window_runs_between_arrivals_and_any_other_to_the_last_token(
    a_records: Callable[..., RequestRecords],
) -> None:
    records = a_records([1.0, 2.0, 5.0], last_token_s=[4.0, 9.0, 8.0])
    steady = measurement_window(records, steady_state=True)
    assert steady == Window(1, 5, steady_state=True)
    assert measurement_window(records, steady_state=False) == Window(1, 9, steady_state=False)
    assert steady is not None
    # The last arrival opens the time after the window; two of three arrive inside.
    assert steady.arrivals(records).tolist() == [True, True, False]
    assert steady.completions(records).tolist() == [True, False, False]


def test_a_single_arrival_has_no_window(
    a_records: Callable[..., RequestRecords], a_simulation: Callable[..., Simulation]
) -> None:
    records = a_records([1.0], last_token_s=[NAN], status=[Status.REJECTED])
    assert measurement_window(records, steady_state=False) is None
    assert measurement_window(records, steady_state=True) is None
    assert littles_law(a_simulation(records), None) == LittlesLaw(None, None)


def test_leaps_are_cut_at_the_ends_of_the_window(some_leaps: Callable[..., Leaps]) -> None:
    leaps = some_leaps([0.0, 4.0, 9.0, 20.0], [4.0, 2.0, 4.0, 1.0], [0.0] * 4)
    share = share_inside(leaps, Window(3, 10, steady_state=True))
    assert share.tolist() == [0.25, 1.0, 0.25, 0.0]
