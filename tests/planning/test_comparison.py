"""Strategies on the same requests: pairs, winners, reasons, refusals."""

from typing import Any

import numpy as np
import pytest

from sim.errors import InputError
from sim.planning.comparison import Comparison, compare
from sim.planning.naming import strategies_named
from sim.report.comparison import comparison_answer, comparison_document, comparison_tables
from sim.scenario import Scenario, load_scenario


def scenario(*changes: str) -> Scenario:
    return load_scenario(
        "chat-70b-h100",
        (
            "model=llama-3.1-8b",
            "deployment.tensor_parallel=1",
            "deployment.replicas=1",
            "workload.input_tokens.kind=fixed",
            "workload.input_tokens.tokens=300",
            "workload.output_tokens.kind=fixed",
            "workload.output_tokens.tokens=64",
            "run.requests=1200",
            *changes,
        ),
    )


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(scenario())


def test_all_strategies_see_the_same_requests(found: Comparison) -> None:
    runs = [arm.outcome.simulation.records for arm in found.arms if arm.outcome]
    assert len(runs) == 3
    for records in runs[1:]:
        shared = min(len(records), len(runs[0]))
        assert (records.arrival_s[:1000] == runs[0].arrival_s[:1000]).all()
        assert (records.output_tokens[:shared] == runs[0].output_tokens[:shared]).all()


def test_the_baseline_is_autoregressive_and_each_other_arm_differs_from_it(
    found: Comparison,
) -> None:
    assert found.baseline.entry.strategy == "autoregressive"
    assert found.baseline.against is None
    for arm in found.arms[1:]:
        assert arm.against is not None
        assert arm.outcome is not None
        mine = arm.outcome.metrics.latency["ttlt"].mean
        base = found.baseline.outcome
        assert base is not None
        plain = base.metrics.latency["ttlt"].mean
        assert mine is not None
        assert plain is not None
        # the same requests but for those that one of the two warm-ups cuts off
        assert arm.against["ttlt"]["mean"].value == pytest.approx(mine - plain, rel=0.05)


def test_paired_intervals_are_far_narrower_than_those_of_the_numbers(found: Comparison) -> None:
    arm = found.arms[1]
    assert arm.against is not None
    assert arm.outcome is not None
    paired = arm.against["ttlt"]["mean"].interval
    alone = arm.outcome.metrics.latency["ttlt"].interval_mean
    assert paired is not None
    assert alone is not None
    assert paired[1] - paired[0] < alone[1] - alone[0]


def test_passes_per_request_are_those_of_the_plans(found: Comparison) -> None:
    plain, blocks = found.arms[0].work, found.arms[2].work
    assert plain is not None
    assert blocks is not None
    # one prefill and 63 more; 64 tokens in two blocks of 9 passes and a prefill
    assert plain.passes_per_request == pytest.approx(64, rel=0.01)
    assert blocks.passes_per_request == pytest.approx(19, rel=0.01)
    assert blocks.positions_per_pass > 32


def test_the_winner_of_a_percentile_is_the_least_latency(found: Comparison) -> None:
    by_place = {(winner.quantity, winner.statistic): winner for winner in found.winners}
    for statistic in ("p50", "p99"):
        times = {
            arm.entry.strategy: getattr(arm.outcome.metrics.latency["ttlt"], statistic)
            for arm in found.arms
            if arm.outcome
        }
        winner = by_place["ttlt", statistic]
        assert winner.best in {min(times, key=lambda name: times[name]), *winner.tied}


def test_a_strategy_that_the_model_cannot_do_is_told_of(found: Comparison) -> None:
    strict = scenario("strategies=[{name: block_diffusion, block_tokens: 8, denoise_passes: 2}]")
    again = compare(strict)
    refused = again.arms[-1]
    assert refused.refusal is not None
    assert "not trained for block diffusion" in refused.refusal
    text = str(comparison_tables(again)[0].rows)
    assert "refused" in text


def test_the_document_holds_what_the_tables_say(found: Comparison) -> None:
    document: dict[str, Any] = comparison_document(found)
    assert [arm["strategy"] for arm in document["strategies"]] == [
        arm.entry.strategy for arm in found.arms
    ]
    assert document["baseline"] == "autoregressive"
    assert document["answer"] == comparison_answer(found)
    differences = document["strategies"][1]["differences"]["ttlt"]["p50"]
    assert differences["interval"][0] <= differences["value"] <= differences["interval"][1]
    assert np.isfinite(differences["value"])


def test_strategies_are_named_by_kind_and_by_what_tells_them_apart() -> None:
    listed = scenario()
    names = [
        entry.strategy for entry in strategies_named(listed, ["block_diffusion", "autoregressive"])
    ]
    assert names == ["autoregressive", "block_diffusion"]
    with pytest.raises(InputError, match="add it to `strategies`"):
        strategies_named(listed, ["diffusion"])
