"""The answer in words, on outcomes whose numbers are set by hand."""

from dataclasses import replace

import pytest

from app.dashboard import answer
from sim.metrics.slo import Slo
from sim.run import Outcome


def attaining(outcome: Outcome, share: float) -> Outcome:
    slo = replace(outcome.metrics.slo, attainment=share)
    return replace(outcome, metrics=replace(outcome.metrics, slo=slo))


def at_speed(outcome: Outcome, tokens_per_s: float, low: float, high: float) -> Outcome:
    rates = replace(
        outcome.metrics.throughput,
        user_tokens_per_s=tokens_per_s,
        interval_user_tokens_per_s=(low, high),
    )
    return replace(outcome, metrics=replace(outcome.metrics, throughput=rates))


def overloaded(outcome: Outcome, sustainable_requests_per_s: float | None) -> Outcome:
    metrics = replace(
        outcome.metrics,
        status="overloaded",
        sustainable_requests_per_s=sustainable_requests_per_s,
    )
    return replace(outcome, metrics=metrics)


def test_the_answer_names_gpus_load_bill_and_targets(outcome: Outcome) -> None:
    # 2 GPUs x 2.79 USD (runpod's H100) x 730 h = 4,073 USD
    assert answer.headline(attaining(outcome, 0.9962)) == (
        "2 × H100 SXM serve 10 requests/s for $4,073 a month;"
        " 99.6% of requests are inside both targets"
    )


def test_a_missed_target_is_called_one(outcome: Outcome) -> None:
    assert "; only 98.7% of requests are inside both targets" in answer.headline(
        attaining(outcome, 0.987)
    )


def test_without_price_or_targets_the_answer_is_silent_about_them(outcome: Outcome) -> None:
    scenario = outcome.scenario.model_copy(update={"slo": Slo()})
    bare = replace(outcome, scenario=scenario, cost=None)
    assert answer.headline(bare) == "2 × H100 SXM serve 10 requests/s"


def test_overload_is_the_answer_and_names_the_rate_that_is_sustained(outcome: Outcome) -> None:
    beaten = overloaded(outcome, 31.4)
    assert answer.headline(beaten) == "Overloaded: 2 × H100 SXM cannot sustain 10 requests/s"
    assert "sustains about **31 requests/s**" in answer.line(beaten)
    assert "tokens/s" not in answer.line(beaten)


def test_a_comparison_carries_the_ends_of_both_intervals(outcome: Outcome) -> None:
    fast, slow = at_speed(outcome, 90.0, 88.0, 92.0), at_speed(outcome, 50.0, 49.0, 51.0)
    # 90 / 50; lowest 88 / 51 = 1.725, highest 92 / 49 = 1.878
    said = answer.compared(fast, slow)
    assert said == ", **1.8×** autoregressive decoding (1.73 – 1.88×)."
    assert answer.line(fast, said).endswith("**90.0 tokens/s** (88.0 – 92.0)" + said)


def test_there_is_no_comparison_with_what_does_not_run_or_keep_up(outcome: Outcome) -> None:
    assert answer.compared(outcome, None) == "."
    assert "overloaded" in answer.compared(outcome, overloaded(outcome, 5.0))


@pytest.mark.parametrize(("replicas", "verb"), [(1, "serves"), (2, "serve")])
def test_one_gpu_serves_and_several_serve(outcome: Outcome, replicas: int, verb: str) -> None:
    scenario = outcome.scenario.with_deployment(replicas=replicas)
    assert f"SXM {verb} 10" in answer.headline(replace(outcome, scenario=scenario))


def test_the_origin_says_what_is_assumed(outcome: Outcome) -> None:
    parts = dict(outcome.provenance)
    parts["kernels"] = replace(parts["kernels"], origin="calibrated", error="6.2%")
    assert answer.origin(replace(outcome, provenance=parts)) == (
        "kernels calibrated, held-out error 6.2%"
    )
    parts["decoding"] = replace(parts["decoding"], origin="assumed")
    assert answer.origin(replace(outcome, provenance=parts)).endswith("; decoding assumed")
