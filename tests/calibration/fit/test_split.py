import numpy as np

from calibration.fit.problem import groups_of
from calibration.fit.split import held_out


def test_whole_shapes_are_held_out_and_three_tenths_of_them() -> None:
    groups = np.repeat(np.arange(100), 7)
    (mask,) = held_out(groups)
    assert len(np.unique(groups[mask])) == 30
    assert not set(groups[mask]) & set(groups[~mask])


def test_with_few_shapes_each_is_held_out_once() -> None:
    groups = np.repeat(np.arange(9), 2)
    masks = list(held_out(groups))
    assert len(masks) == 3
    assert np.stack(masks).sum(axis=0).tolist() == [1] * 18


def test_rows_with_equal_columns_are_one_group() -> None:
    groups = groups_of(np.array([1.0, 1.0, 2.0, 1.0]), np.array([5.0, 5.0, 5.0, 6.0]))
    assert groups[0] == groups[1]
    assert len(set(groups.tolist())) == 3
