"""Warm-up and cool-down traffic that is asked for: simulated, and not counted."""

from pathlib import Path
from typing import Any

import pytest

from sim.errors import InputError
from sim.workload import Workload
from sim.yaml_files import validate

ENDS = {"warmup_requests": 30, "cooldown_requests": 7}
LENGTHS: dict[str, Any] = {
    "input_tokens": {"kind": "fixed", "tokens": 10},
    "output_tokens": {"kind": "fixed", "tokens": 10},
}


def a_workload(arrivals: dict[str, Any], **ends: int) -> Workload:
    return validate(Workload, {"arrivals": arrivals, **LENGTHS, **ends}, "here")


@pytest.mark.parametrize(
    "arrivals",
    [{"kind": "poisson", "requests_per_s": 8}, {"kind": "closed_loop", "users": 3}],
    ids=lambda arrivals: arrivals["kind"],
)
def test_both_ends_come_on_top_of_what_is_counted(arrivals: dict[str, Any]) -> None:
    traffic = a_workload(arrivals, **ENDS).draw(100, 0)
    assert traffic.warmup == 30
    assert traffic.measured == 130
    assert len(traffic) == 137
    plain = a_workload(arrivals).draw(100, 0)
    assert plain.warmup is None
    assert plain.measured == 100


def test_no_cool_down_at_all_can_be_asked_for() -> None:
    traffic = a_workload({"kind": "poisson", "requests_per_s": 8}, cooldown_requests=0).draw(50, 0)
    assert len(traffic) == traffic.measured == 50


def test_a_trace_keeps_its_rows_and_counts_those_between(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    rows = "".join(f"{row},10,20\n" for row in range(40))
    path.write_text("arrival_s,input_tokens,output_tokens\n" + rows)
    given = {"arrivals": {"kind": "trace", "path": str(path)}, **ENDS}
    traffic = validate(Workload, given, "here").draw(1, 0)
    assert (traffic.warmup, traffic.measured, len(traffic)) == (30, 33, 40)
    with pytest.raises(InputError, match="none of the 35 requests is left between warm-up and"):
        validate(Workload, given, "here").draw(1, 0, limit=35)


def test_a_negative_end_is_refused() -> None:
    with pytest.raises(InputError, match="`warmup_requests` should be greater than or equal to 0"):
        a_workload({"kind": "poisson", "requests_per_s": 8}, warmup_requests=-1)
