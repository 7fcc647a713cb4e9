"""The held-out error of a preset, by hand."""

from collections.abc import Sequence

import pytest

from calibration.engine.cross import Cross
from calibration.engine.solve import LeftOut
from calibration.validate.errors import error_stats


def left(model: str, errors: Sequence[float]) -> LeftOut:
    return LeftOut(model, error_stats(errors), error_stats([]))


def test_every_row_counts_once_whatever_its_model() -> None:
    """(0.1 + 0.1 + 0.1 + 0.3) / 4."""
    found = Cross("vllm", 4, (left("a", [0.1, -0.1, 0.1]), left("b", [-0.3])), ())
    assert found.model_error == pytest.approx(0.15)


def test_one_model_alone_has_no_such_error() -> None:
    assert Cross("vllm", 4, (), ()).model_error is None
