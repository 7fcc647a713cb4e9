"""Domains of the requests: their shares."""

from typing import Any

import pytest

from sim.errors import InputError
from sim.workload import Workload, draw_domains
from sim.yaml_files import validate

KEYS: dict[str, Any] = {
    "arrivals": {"kind": "poisson", "requests_per_s": 8},
    "input_tokens": {"kind": "lognormal", "mean": 1000, "cv": 1},
    "output_tokens": {"kind": "lognormal", "mean": 200, "cv": 1},
}


def a_workload(**changes: Any) -> Workload:
    return validate(Workload, {**KEYS, **changes}, "scenario.yaml")


def test_domains_come_in_their_shares_and_move_no_other_draw() -> None:
    plain, mixed = a_workload(), a_workload(domains={"chat": 0.7, "code": 0.3})
    names, rows = draw_domains(mixed.domains, 20_000, seed=3)
    assert names == ("chat", "code")
    # a standard error of 0.3 %
    assert (rows == 1).mean() == pytest.approx(0.3, abs=0.012)
    assert rows[:500].tolist() == draw_domains(mixed.domains, 500, seed=3)[1].tolist()
    assert draw_domains(plain.domains, 5, seed=3)[0] == ()
    one, two = plain.draw(100, 3), mixed.draw(100, 3)
    assert one.output_tokens.tolist() == two.output_tokens.tolist()


@pytest.mark.parametrize(
    ("shares", "says"),
    [({"chat": 0.7, "code": 0.7}, "1.4 in sum, not 1"), ({"chat": 0.0}, "greater than 0")],
)
def test_shares_of_domains_are_parts_of_one(shares: dict[str, float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        a_workload(domains=shares)
