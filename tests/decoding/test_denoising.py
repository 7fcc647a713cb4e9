"""Passes per block: given, in tokens per pass, measured, or from a published table."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.decoding import BlockDiffusion, Diffusion
from sim.decoding.denoise_tables import Published, list_denoise_tables, load_denoise_table
from sim.decoding.denoising import Measured, Spread, TokensPerPass, shared_out, spread_of
from sim.model import load_model


def test_tokens_per_pass_that_divide_no_block_give_some_blocks_a_pass_more() -> None:
    spread = spread_of(TokensPerPass(tokens_per_pass=2.55), 32)  # 12.55 passes
    assert spread.values == (12, 13)
    assert spread.mean == pytest.approx(32 / 2.55)


def test_a_block_takes_one_pass_at_least() -> None:
    assert spread_of(TokensPerPass(tokens_per_pass=64), 32) == Spread((1,), (1.0,))


def test_measured_passes_come_as_often_as_they_were_measured() -> None:
    spread = spread_of(Measured(measured=(4, 2, 2, 8)), 32)
    assert spread == Spread((2, 4, 8), (0.5, 0.25, 0.25))
    drawn = spread.draw_sums(np.full(20_000, 3), np.random.default_rng(0))
    error = drawn.std(ddof=1) / np.sqrt(len(drawn))
    assert abs(drawn.mean() - 3 * 4) < 4 * error
    assert 4 * error < 0.03 * 12
    assert 6 <= drawn.min() <= drawn.max() <= 24


@given(passes=st.integers(1, 500), blocks=st.integers(1, 60))
def test_passes_are_shared_out_without_rest(passes: int, blocks: int) -> None:
    found = shared_out(passes, blocks)
    assert sum(count for count, _ in found) == blocks
    assert sum(count * each for count, each in found) == passes


def test_the_slowest_of_many_blocks_takes_the_longest_passes() -> None:
    spread = Spread((2, 10), (0.9, 0.1))
    assert spread.mean_of_most(1) == pytest.approx(spread.mean)
    assert spread.mean_of_most(2) == pytest.approx(10 - 8 * 0.9**2)
    assert spread.mean_of_most(1000) == pytest.approx(10)


def test_in_lockstep_a_block_takes_the_passes_of_the_slowest_and_its_commit() -> None:
    strategy = BlockDiffusion(
        block_tokens=32, denoise_passes=Measured(measured=(3, 7)), batching="lockstep"
    )
    assert strategy.stretch(1) == pytest.approx(1.0)
    assert strategy.stretch(2) == pytest.approx((7 - 4 * 0.25 + 1) / (5 + 1))
    free = strategy.model_copy(update={"batching": "first_done"})
    assert free.stretch(64) == 1.0


def test_blocks_in_flight_follow_each_other_at_even_distances() -> None:
    strategy = BlockDiffusion(block_tokens=16, denoise_passes=8, blocks_in_flight=3)
    drawn = strategy.draw_passes(np.array([16, 80]), np.random.default_rng(0))
    assert drawn.tolist() == [9, 9 + 4 * 3]  # the first takes its own nine, then one every three
    first, rest = strategy.plan(100, 80, 21).phases
    assert (first.passes, first.chunk_passes, first.visible_tokens) == (9, 9, 16)
    assert (rest.passes, rest.chunk_passes, rest.visible_tokens) == (12, 3, 64)
    assert first.positions == rest.positions == 48
    # each of the three blocks sees those before it and itself
    assert rest.pair_extra + rest.positions * (16 / 3) == pytest.approx(16 * 16 * (1 + 2 + 3))


def test_a_guess_that_is_fed_back_goes_through_the_vocabulary_twice() -> None:
    plain = BlockDiffusion(block_tokens=256, denoise_passes=16)
    fed = plain.model_copy(update={"self_conditioning": True})
    (once,), (twice,) = (s.plan(100, 256, 17).phases for s in (plain, fed))
    assert twice.logit_positions == 2 * once.logit_positions == 2 * 256 * 16 / 17
    assert (plain.guesses_kept(256), fed.guesses_kept(256)) == (0, 256)


@pytest.mark.parametrize("name", list_denoise_tables())
def test_every_table_is_of_a_model_of_the_catalog_and_names_each_row_once(name: str) -> None:
    table = load_denoise_table(name)
    assert load_model(table.model).decoding != ("autoregressive",)
    for row in table.rows:
        keys = row.model_dump(include={"threshold", "mode", "domain", "block_tokens"})
        assert Published(table=name, **keys).tokens_per_pass == row.tokens_per_pass


def test_a_row_of_a_table_is_found_by_what_tells_it_apart() -> None:
    row = Published(table="llada-2.0-mini", threshold=0.95, block_tokens=16)
    assert row.tokens_per_pass == 2.44  # arXiv:2512.15745, figure 4
    assert "arXiv:2512.15745" in row.source
    with pytest.raises(ValueError, match="several rows"):
        Published(table="llada-2.0-mini", threshold=0.95)
    with pytest.raises(ValueError, match="no row"):
        Published(table="llada-2.0-mini", threshold=0.5)


@pytest.mark.parametrize(("passes", "said"), [(16, False), (17, True), (32, True)])
def test_more_passes_than_tokens_of_a_block_are_spoken_of(passes: int, said: bool) -> None:
    # a pass that unmasks for good unmasks one token at least: 16 passes for 16 tokens at most
    blocks = BlockDiffusion(block_tokens=16, denoise_passes=passes)
    canvas = Diffusion(block_tokens=16, denoise_passes=passes)
    whole = Diffusion(denoise_passes=passes)
    for strategy in (blocks, canvas, whole):
        cautions = strategy.cautions(16.0)
        assert bool(cautions) is said
        assert all(
            f"a block of 16 tokens takes {passes} denoise passes" in one for one in cautions
        )


def test_a_few_tokens_a_pass_need_no_caution() -> None:
    fast = BlockDiffusion(block_tokens=16, denoise_passes=TokensPerPass(tokens_per_pass=2.5))
    slow = BlockDiffusion(block_tokens=16, denoise_passes=TokensPerPass(tokens_per_pass=0.5))
    assert fast.cautions(100.0) == ()
    assert len(slow.cautions(100.0)) == 1
