"""Acceptance drift: what is gained, where it breaks even."""

from typing import Any

import pytest

from sim.decoding import Autoregressive
from sim.errors import InputError
from sim.planning.drift import DriftPoint, break_even, drift
from sim.scenario import Scenario

DRAFT = {"work_share": 0.1}
BY_DOMAIN = {"chat": {"acceptance_rate": 0.2}, "code": {"acceptance_rate": 0.9}}


def scenario(**decoding: Any) -> Scenario:
    return Scenario.model_validate(
        {
            "model": "llama-3.1-8b",
            "hardware": "h100_sxm",
            "decoding": {"name": "speculative", "draft_tokens": 3, "draft": DRAFT, **decoding},
            "workload": {
                "arrivals": {"kind": "closed_loop", "users": 4},
                "input_tokens": {"kind": "fixed", "tokens": 100},
                "output_tokens": {"kind": "fixed", "tokens": 200},
                "domains": {"code": 1.0},
            },
            "run": {"requests": 60},
        }
    )


def test_the_break_even_lies_on_the_line_between_two_points() -> None:
    points = [
        DriftPoint(1.0, 2.0, 0.7, 1.5),
        DriftPoint(0.5, 1.4, 0.4, 1.1),
        DriftPoint(0.3, 1.2, 0.2, 0.9),
    ]
    even = break_even(points)
    assert even is not None
    assert (even.at, even.tokens_per_pass, even.first_acceptance) == pytest.approx((0.4, 1.3, 0.3))
    assert break_even(points[:2]) is None
    assert break_even(points[2:]) is None


def test_less_acceptance_is_less_speed_and_the_gain_ends_where_it_says() -> None:
    found = drift(scenario(acceptance_rate=0.7), at=(1.0, 0.75, 0.5, 0.25, 0.0))
    gains = [point.speed_up for point in found.points]
    assert gains == sorted(gains, reverse=True)
    # three drafts at a tenth of a pass each, nothing accepted: 1 / 1.3 or a little less
    assert gains[-1] == pytest.approx(1 / 1.3, rel=0.03)
    assert found.points[0].tokens_per_pass == pytest.approx(1 + 0.7 + 0.49 + 0.343)
    # as often accepted as the drafts cost: 1.3 tokens a pass, and 2 % for the wider pass
    assert found.break_even is not None
    assert found.break_even.tokens_per_pass == pytest.approx(1.3, rel=0.04)


def test_a_mix_that_moves_to_what_is_hard_to_draft_loses_its_gain() -> None:
    found = drift(scenario(by_domain=BY_DOMAIN), to={"chat": 1.0}, at=(0.0, 0.5, 1.0))
    first, half, last = found.points
    assert first.tokens_per_pass == pytest.approx(1 + 0.9 + 0.81 + 0.729)
    assert last.tokens_per_pass == pytest.approx(1 + 0.2 + 0.04 + 0.008)
    between = 2 / (1 / first.tokens_per_pass + 1 / last.tokens_per_pass)
    assert half.tokens_per_pass == pytest.approx(between)
    assert first.speed_up > half.speed_up > last.speed_up
    assert last.speed_up < 1
    assert found.break_even is not None
    assert 0.5 < found.break_even.at < 1


def test_what_cannot_drift_is_refused() -> None:
    base = scenario(acceptance_rate=0.5)
    with pytest.raises(InputError, match="nothing is drafted"):
        drift(base.with_decoding(Autoregressive()))
    without = base.workload.model_copy(update={"domains": None})
    with pytest.raises(InputError, match="no mix of domains"):
        drift(base.with_workload(without), to={"chat": 1.0})
