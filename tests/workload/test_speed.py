"""A day of two million requests is drawn in seconds of the processor."""

from time import process_time
from typing import Any

import pytest

from sim.workload import Workload

LENGTHS: dict[str, Any] = {
    "input_tokens": {"kind": "lognormal", "mean": 1000, "cv": 1},
    "output_tokens": {"kind": "lognormal", "mean": 200, "cv": 1},
}
CLASSES = [{"name": "a", "share": 0.3, "priority": 1}, {"name": "b", "share": 0.7}]


@pytest.mark.bench
def test_a_day_of_two_million_requests_is_drawn_in_three_seconds() -> None:
    arrivals = {"kind": "diurnal", "requests_per_s": 2e6 / 86_400, "cv": 1.5}
    workload = Workload.model_validate(
        {"arrivals": arrivals, **LENGTHS, "length_correlation": 0.3, "classes": CLASSES}
    )
    before = process_time()
    traffic = workload.draw(2_000_000, 0)
    assert process_time() - before < 3
    assert traffic.measured == 2_000_000
