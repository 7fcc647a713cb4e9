"""What reports say of a strategy, from the strategy itself."""

import pytest

from sim.decoding import (
    AnyStrategy,
    Autoregressive,
    BaseStrategy,
    BlockDiffusion,
    RelativeDraft,
    Speculative,
)

CHAIN = Speculative(draft_tokens=2, survival=(0.7, 0.5), draft=RelativeDraft(work_share=0.1))
BLOCKS = BlockDiffusion(block_tokens=32, denoise_passes=8, what_if=True)


@pytest.mark.parametrize(
    ("strategy", "label"),
    [
        (Autoregressive(), "autoregressive"),
        (CHAIN, "speculative (chain, 2 draft tokens)"),
        (BLOCKS, "block diffusion (blocks of 32, 8 denoise passes, what-if)"),
    ],
)
def test_a_label_has_the_knobs_that_make_the_strategy(strategy: AnyStrategy, label: str) -> None:
    assert strategy.label == label


def test_only_what_follows_by_definition_is_not_assumed() -> None:
    assert not Autoregressive().assumed
    assert CHAIN.assumed
    assert CHAIN.basis == "acceptance: given in the scenario, no source"
    assert "not trained for it" in BLOCKS.basis


def test_a_strategy_that_says_nothing_of_itself_is_assumed_and_not_lossless() -> None:
    new = BaseStrategy(name="my_own")
    assert (new.assumed, new.lossless, new.draft_work) == (True, False, None)
    assert "no source" in new.basis
    assert new.label == "my own"
