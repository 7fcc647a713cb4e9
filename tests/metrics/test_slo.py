import pytest
from pydantic import ValidationError

from sim.metrics.slo import Slo


def test_targets_turn_from_milliseconds_into_seconds() -> None:
    slo = Slo(ttft_ms=1000, tpot_ms=50, max_gap_p99_ms=500)
    assert slo.per_request_s() == {"ttft": 1.0, "tpot": 0.05}
    assert slo.on_percentiles_s() == {"max_gap_p99": 0.5}


def test_every_percentile_target_is_among_those_that_are_judged() -> None:
    names = [name for name in Slo.model_fields if "_p" in name]
    assert len(names) == 12
    asked = Slo.model_validate(dict.fromkeys(names, 1.0))
    assert {f"{name}_ms" for name in asked.on_percentiles_s()} == set(names)


@pytest.mark.parametrize(
    "bad", [{"ttft": 1}, {"ttft_ms": -1}, {"attainment": 99}, {"ttft_p95_ms": 5}]
)
def test_what_is_not_a_target_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Slo.model_validate(bad)


def test_a_class_has_its_own_targets_in_place_of_the_general_ones() -> None:
    slo = Slo.model_validate(
        {"ttft_ms": 1000, "attainment": 0.9, "classes": {"batch": {"ttlt_ms": 60_000}}}
    )
    assert slo.of("chat").per_request_s() == {"ttft": 1.0}
    assert slo.of("batch").per_request_s() == {"ttlt": 60.0}
    assert (slo.of("chat").attainment, slo.of("batch").attainment) == (0.9, 0.99)
    limits = {name: limit.tolist() for name, limit in slo.limits_s(["chat", "batch"]).items()}
    assert limits == {"ttft": [1.0, float("inf")], "ttlt": [float("inf"), 60.0]}
    assert Slo().limits_s(["default"]) == {}
