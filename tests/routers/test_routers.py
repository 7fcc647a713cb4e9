"""What each router decides, on loads that are written down."""

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from sim.routers import (
    AnyRouter,
    Arrival,
    BaseRouter,
    LeastKv,
    LeastOutstanding,
    PowerOfTwo,
    PrefixAware,
    RoundRobin,
)

KINDS: tuple[Any, ...] = get_args(get_args(AnyRouter)[0])


@dataclass(frozen=True)
class Load:
    outstanding: int
    kv_tokens: int = 0
    cached: int = 0

    def cached_tokens(self, row: int) -> int:
        return self.cached + 0 * row


def choose(router: BaseRouter, loads: list[Load], turn: int = 0, seed: int = 0) -> int:
    return router.choose(loads, Arrival(turn, turn, np.random.default_rng(seed)))


def test_round_robin_goes_by_turns_alone() -> None:
    loads = [Load(9), Load(0), Load(5)]
    assert [choose(RoundRobin(), loads, turn) for turn in range(5)] == [0, 1, 2, 0, 1]


def test_least_outstanding_takes_the_first_of_the_least_busy() -> None:
    assert choose(LeastOutstanding(), [Load(3), Load(2), Load(2)]) == 1


def test_least_kv_looks_at_tokens_and_not_at_requests() -> None:
    assert choose(LeastKv(), [Load(1, 900), Load(8, 700), Load(2, 700)]) == 1


def test_power_of_two_takes_the_worst_replica_never_and_each_other_one_sometimes() -> None:
    loads = [Load(1), Load(9), Load(2), Load(3)]
    chosen = [choose(PowerOfTwo(), loads, seed=seed) for seed in range(200)]
    assert set(chosen) == {0, 2, 3}
    # the least busy of four is in half of the pairs
    assert chosen.count(0) == pytest.approx(100, abs=4 * (200 / 4) ** 0.5)


def test_power_of_two_has_no_choice_with_one_replica() -> None:
    assert choose(PowerOfTwo(), [Load(7)]) == 0


def test_prefix_aware_takes_the_longest_prefix_unless_it_is_far_busier() -> None:
    loads = [Load(0, cached=16), Load(3, cached=64), Load(9, cached=512)]
    assert choose(PrefixAware(balance_requests=8), loads) == 1
    assert choose(PrefixAware(balance_requests=9), loads) == 2
    assert choose(PrefixAware(balance_requests=0), loads) == 0


def test_prefix_aware_without_any_prefix_takes_the_least_busy() -> None:
    assert choose(PrefixAware(), [Load(4), Load(2), Load(2)]) == 1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_router_can_be_named_in_one_word_and_says_what_it_is(kind: Any) -> None:
    name = kind.model_fields["kind"].default
    router = TypeAdapter[BaseRouter](AnyRouter).validate_python(name)
    assert type(router) is kind
    assert router.label.startswith(name.replace("_", " "))
    assert 0 <= choose(router, [Load(1), Load(2)]) < 2


def test_a_router_that_nobody_knows_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(ValidationError, match="least_outstanding"):
        TypeAdapter[BaseRouter](AnyRouter).validate_python("fastest")
