"""The pass that stands for a run is the mean of its decode passes."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from app.dashboard.typical_pass import typical_pass
from sim.cost import PassLoad
from sim.records import Leaps
from sim.run import Outcome


def with_leaps(outcome: Outcome, **columns: list[float]) -> Outcome:
    """The outcome with two leaps by hand; columns that are not given are 0."""
    given: dict[str, Any] = {field.name: np.zeros(2) for field in fields(Leaps)}
    given["capped"] = ()
    given |= {name: np.array(values) for name, values in columns.items()}
    return replace(outcome, simulation=replace(outcome.simulation, leaps=Leaps(**given)))


def test_the_mean_is_over_passes_and_leaves_out_those_with_prompts(outcome: Outcome) -> None:
    run = with_leaps(
        outcome,
        passes=[30.0, 10.0],
        sequences=[4.0, 8.0],  # in each pass: (30 x 4 + 10 x 8) / 40 = 5
        positions=[120.0, 80.0],  # over all passes: 200 / 40 = 5
        logit_positions=[120.0, 80.0],
        context_tokens=[24_000.0, 16_000.0],  # 40,000 / 40 = 1,000
        pairs=[24_000.0, 16_000.0],
        draft_s=[0.03, 0.01],  # 0.04 / 40 = 1 ms
    )
    typical = typical_pass(run)
    assert typical is not None
    assert typical.positions == 5
    assert typical.draft_s == pytest.approx(0.001)
    load = PassLoad(5, 5, 5.0, 1_000.0, 1_000.0)
    assert typical.operations == outcome.serving.cost.operations(load)
    assert typical.baseline == typical.operations


def test_a_run_of_prompts_alone_has_no_typical_pass(outcome: Outcome) -> None:
    run = with_leaps(outcome, passes=[1.0, 1.0], sequences=[1.0, 1.0], prefill_s=[0.1, 0.1])
    assert typical_pass(run) is None
