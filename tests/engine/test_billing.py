"""What a pass with prompts costs whom."""

import numpy as np
import pytest

from sim.cost import KvShape
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.records import Traffic
from tests.laws.constant_pass import ConstantPass

PASS_S = 0.5


def test_a_prompt_computed_again_after_a_preemption_is_billed_to_output() -> None:
    """Two requests, KV for one and a half: the second is sent back once and computes again.

    With a constant pass, a pass of prompts alone is all input, one of a recomputation all output.
    """
    asked = Traffic(np.zeros(2), np.full(2, 4), np.full(2, 6), measured=2)
    room = Limits(1, 2, 8, KvShape(blocks=14, block_tokens=1), 100)
    seen = simulate(asked, asked.output_tokens - 1, Autoregressive(), ConstantPass(PASS_S), room)
    assert seen.records.preemptions.sum() >= 1
    # the only prompts that are computed for the first time share the first pass, alone in it
    assert seen.leaps.prefill_s[0] == pytest.approx(PASS_S)
    assert seen.leaps.prefill_s[1:].sum() == pytest.approx(0.0)
