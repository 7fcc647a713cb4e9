"""Labels keep clear of each other."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.report.figures.labels import Box, place_names, spread

PLACES = st.lists(st.floats(0, 200), min_size=1, max_size=8)


@given(PLACES)
def test_spread_labels_keep_their_gap_and_their_order(wanted: list[float]) -> None:
    placed = spread(wanted, 18, 0, 200)
    in_order = [placed[place] for place in sorted(range(len(wanted)), key=lambda i: wanted[i])]
    assert all(after - before >= 18 - 1e-9 for before, after in pairwise(in_order))


@given(PLACES)
def test_spread_labels_stay_inside_where_there_is_room(wanted: list[float]) -> None:
    placed = spread(wanted, 18, 0, 200)
    assert min(placed) >= -1e-9
    assert max(placed) <= 200 + 1e-9


def test_labels_that_have_room_stay_where_they_belong() -> None:
    assert spread([10, 50, 90], 18, 0, 100) == [10, 50, 90]


def test_two_labels_on_one_spot_move_apart_by_the_same_amount() -> None:
    assert spread([50, 50], 18, 0, 100) == pytest.approx([41, 59])


def test_names_lie_neither_on_each_other_nor_on_another_line_nor_outside() -> None:
    frame = Box(0, 0, 700, 400)
    rising = [(x, 0.5 * x) for x in range(0, 700, 10)]
    falling = [(x, 350 - 0.5 * x) for x in range(0, 700, 10)]
    level = [(x, 200.0) for x in range(0, 700, 10)]
    lines = [rising, falling, level]
    placed = place_names(lines, [90, 120, 150], frame)
    assert not any(one.overlaps(other) for one, other in combinations(placed, 2))
    for number, box in enumerate(placed):
        others = [spot for place, line in enumerate(lines) if place != number for spot in line]
        assert not any(box.holds(spot) for spot in others)
        assert frame.holds((box.left, box.bottom))
        assert frame.holds((box.left + box.width, box.bottom + box.height))


def test_a_name_keeps_clear_of_obstacles() -> None:
    frame, line = Box(0, 0, 700, 400), [(float(x), 200.0) for x in range(100, 600, 10)]
    (free,) = place_names([line], [80], frame)
    (moved,) = place_names([line], [80], frame, [(free.left + 40, free.bottom + 8)])
    assert moved != free
