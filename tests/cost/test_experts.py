"""Which experts a pass reads, and how far the busiest rank is from the mean."""

from itertools import combinations, product
from math import exp, lgamma, log, log1p

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cost.experts import Routing

SIZES = [(8, 2), (16, 1), (32, 4), (128, 8), (256, 8), (384, 8), (512, 10)]
"""Experts and active ones of Mixtral, Llama 4, gpt-oss, Qwen3, DeepSeek, Kimi and Qwen3-Next."""
TOKENS = [1, 2, 3, 5, 8, 16, 33, 64, 100, 144, 150, 256, 500, 1000, 1024, 2000, 8192]


SKEWS = st.sampled_from([0.0, 0.3, 1.0, 2.0])


@st.composite
def routings(draw: st.DrawFn, skew: st.SearchStrategy[float] = SKEWS) -> Routing:
    experts, active = draw(st.sampled_from(SIZES))
    ranks = draw(st.sampled_from([n for n in (1, 2, 4, 8, 16, 32) if experts % n == 0]))
    return Routing(experts, active, ranks, draw(skew))


@pytest.mark.truth
@pytest.mark.parametrize(("experts", "active"), [(4, 2), (5, 3), (4, 1)])
@pytest.mark.parametrize("tokens", [1, 2, 3])
def test_hits_are_the_mean_over_all_the_choices_there_are(
    experts: int, active: int, tokens: int
) -> None:
    every_token = list(combinations(range(experts), active))
    batches = list(product(every_token, repeat=tokens))
    distinct = [len(set().union(*batch)) for batch in batches]
    assert Routing(experts, active).hits(tokens) == pytest.approx(np.mean(distinct), rel=1e-12)


@pytest.mark.truth
@pytest.mark.parametrize(
    ("experts", "active", "tokens", "hits"),
    [
        (256, 8, 1, 8.0),
        (256, 8, 64, 256 * (1 - (31 / 32) ** 64)),  # 222.4: a batch of 64 reads 87 % of them
        (8, 2, 4, 8 * (1 - 0.75**4)),
        (128, 4, 10_000, 128.0),
    ],
)
def test_hits_are_the_experts_less_those_that_every_token_misses(
    experts: int, active: int, tokens: int, hits: float
) -> None:
    assert Routing(experts, active).hits(tokens) == pytest.approx(hits, rel=1e-12)


@pytest.mark.truth
def test_one_token_to_eight_experts_on_eight_ranks_gives_one_of_them_two_and_a_half() -> None:
    """Eight balls in eight bins: the fullest holds 2.6 in the mean, where one is fair."""
    rng = np.random.default_rng(0)
    fullest = rng.multinomial(8, [1 / 8] * 8, size=100_000).max(axis=1).mean()
    routing = Routing(256, 8, 8)
    assert fullest == pytest.approx(2.6, abs=0.02)
    assert routing.busiest_share(1) == pytest.approx(fullest, rel=0.01)
    assert routing.busiest_hits(1) == pytest.approx(fullest, rel=0.025)  # no expert comes twice


@pytest.mark.truth
@pytest.mark.parametrize(("experts", "active", "ranks"), [(256, 8, 8), (128, 8, 4), (32, 4, 2)])
@pytest.mark.parametrize("tokens", [2, 16, 64])
def test_the_busiest_rank_is_that_of_tokens_that_choose_at_random(
    experts: int, active: int, ranks: int, tokens: int
) -> None:
    rng = np.random.default_rng(1)
    hits, loads = [], []
    for _ in range(400):
        chosen = rng.permuted(np.tile(np.arange(experts), (tokens, 1)), axis=1)[:, :active]
        count = np.bincount(chosen.ravel(), minlength=experts).reshape(ranks, -1)
        hits.append((count > 0).sum(axis=1).max())
        loads.append(count.sum(axis=1).max())
    routing, mean = Routing(experts, active, ranks), tokens * active / ranks
    found = routing.busiest_hits(tokens), routing.busiest_share(tokens) * mean
    for model, drawn in zip(found, (hits, loads), strict=True):
        error = 4 * np.std(drawn) / np.sqrt(len(drawn))
        assert error < 0.06 * model
        assert model == pytest.approx(np.mean(drawn), abs=error + 0.01 * model)


def log_binomial(trials: int, count: int, chance: float) -> float:
    ways = lgamma(trials + 1) - lgamma(count + 1) - lgamma(trials - count + 1)
    return ways + count * log(chance) + (trials - count) * log1p(-chance)


@pytest.mark.parametrize("ranks", [2, 8, 64])
@pytest.mark.parametrize("experts", [64, 128, 512])
@pytest.mark.parametrize("tokens", [1, 20, 150, 200])
def test_the_most_hits_of_several_ranks_are_those_of_the_largest_binomial(
    experts: int, ranks: int, tokens: int
) -> None:
    own, routing = experts // ranks, Routing(experts, 8, ranks)
    chance = routing.hits(tokens) / experts
    below = np.cumsum([exp(log_binomial(own, k, chance)) for k in range(own)]).clip(max=1)
    largest = (1 - below**ranks).sum()
    assert routing.busiest_hits(tokens) == pytest.approx(max(1, largest), rel=1e-6)


@pytest.mark.laws
@given(routing=routings())
def test_more_tokens_hit_no_fewer_experts_and_leave_no_rank_less_to_do(routing: Routing) -> None:
    hits = np.array([routing.hits(tokens) for tokens in TOKENS])
    busiest = np.array([routing.busiest_hits(tokens) for tokens in TOKENS])
    load = np.array([tokens * routing.busiest_share(tokens) for tokens in TOKENS])
    for series in (hits, busiest, load):
        assert (np.diff(series) >= -1e-9 * series[1:]).all()
    assert (hits >= routing.active * (1 - 1e-12)).all()
    assert (hits <= routing.experts * (1 + 1e-12)).all()


@pytest.mark.laws
@given(routing=routings(), tokens=st.sampled_from(TOKENS))
def test_the_busiest_rank_has_no_less_than_the_mean_no_less_than_one_and_no_more_than_its_own(
    routing: Routing, tokens: int
) -> None:
    hits, busiest = routing.hits(tokens), routing.busiest_hits(tokens)
    assert max(1.0, hits / routing.ranks) * (1 - 1e-9) <= busiest
    assert busiest <= min(hits, routing.experts / routing.ranks) * (1 + 1e-9)
    share, mean = routing.busiest_share(tokens), tokens * routing.active / routing.ranks
    assert share >= 1
    assert share * mean >= 1 - 1e-9
    assert share <= routing.ranks * (1 + 1e-9)  # all of it on one rank


@pytest.mark.laws
@given(routing=routings(st.floats(0.01, 3)), tokens=st.sampled_from(TOKENS))
def test_popular_experts_spread_hits_less_and_loads_more_unevenly(
    routing: Routing, tokens: int
) -> None:
    even = Routing(routing.experts, routing.active, routing.ranks)
    assert routing.hits(tokens) <= even.hits(tokens) * (1 + 1e-9)
    assert routing.hits(1) == pytest.approx(routing.active)
    assert routing.busiest_share(tokens) >= even.busiest_share(tokens) * (1 - 1e-9)


@pytest.mark.parametrize("ranks", [1, 8])
def test_next_to_no_skew_is_next_to_none(ranks: int) -> None:
    even, skewed = Routing(256, 8, ranks), Routing(256, 8, ranks, skew=1e-9)
    for tokens in TOKENS:
        assert skewed.hits(tokens) == pytest.approx(even.hits(tokens), rel=1e-6)
        assert skewed.busiest_share(tokens) == pytest.approx(even.busiest_share(tokens), rel=1e-6)
        assert skewed.busiest_hits(tokens) == pytest.approx(even.busiest_hits(tokens), rel=1e-6)


def test_among_many_tokens_luck_evens_out_but_popularity_does_not() -> None:
    assert Routing(256, 8, 8).busiest_share(10**7) == pytest.approx(1.0, abs=1e-3)
    assert Routing(256, 8, 8, skew=1.0).busiest_share(10**7) > 1.2
