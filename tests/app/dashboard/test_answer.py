"""What stands below the headline, on outcomes whose numbers are set by hand."""

from dataclasses import replace

from app.dashboard import answer
from sim.run import Outcome


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


def test_an_overloaded_run_has_no_speed_to_tell(outcome: Outcome) -> None:
    said = answer.line(overloaded(outcome, 31.4))
    assert said.startswith("The queue grows")
    assert "tokens/s" not in said


def test_a_comparison_carries_the_ends_of_both_intervals(outcome: Outcome) -> None:
    fast, slow = at_speed(outcome, 90.0, 88.0, 92.0), at_speed(outcome, 50.0, 49.0, 51.0)
    # 90 / 50; lowest 88 / 51 = 1.725, highest 92 / 49 = 1.878
    said = answer.compared(fast, slow)
    assert said == ", **1.8×** autoregressive decoding (1.73 – 1.88×)."
    assert answer.line(fast, said).endswith("**90.0 tokens/s** (88.0 – 92.0)" + said)


def test_there_is_no_comparison_with_what_does_not_run_or_keep_up(outcome: Outcome) -> None:
    assert answer.compared(outcome, None) == "."
    assert "overloaded" in answer.compared(outcome, overloaded(outcome, 5.0))


def test_the_origin_says_what_is_assumed(outcome: Outcome) -> None:
    used = outcome.serving.cost.fits_used[:2]
    errors = {used[0]: 0.062, used[1]: 0.031, "not in this run": 0.5}
    fitted = outcome.serving.fitted.model_copy(update={"error": errors})
    parts = dict(outcome.provenance)
    parts["kernels"] = replace(parts["kernels"], origin="calibrated")
    known = replace(outcome, serving=replace(outcome.serving, fitted=fitted), provenance=parts)
    assert answer.origin(known) == "kernels calibrated, held-out error 3.1 – 6.2%"
    parts["decoding"] = replace(parts["decoding"], origin="assumed")
    assert answer.origin(known).endswith("; decoding assumed")
