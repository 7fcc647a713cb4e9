"""The sentence at the top: what it says in each case."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sim.report.answer import answer, context, headline, target_label
from sim.run import Outcome, run
from sim.scenario import build_scenario

BASE = {
    "name": "tale",
    "model": "llama-3.1-8b",
    "hardware": "h100_sxm",
    "workload": {
        "arrivals": {"kind": "constant", "requests_per_s": 5},
        "input_tokens": {"kind": "fixed", "tokens": 100},
        "output_tokens": {"kind": "fixed", "tokens": 10},
    },
    "run": {"requests": 1000},
}


def outcome(**changes: Any) -> Outcome:
    return run(build_scenario({**BASE, **changes}, where="test", folder=Path()))


def test_without_targets_and_price_it_says_rate_first_token_and_bound() -> None:
    text = answer(outcome())
    assert text.startswith("1 × H100 serves 5 requests/s of tale: TTFT p99 ")
    assert text.endswith("; bound by memory bandwidth.")


def test_replicas_are_spelt_out_and_the_verb_agrees() -> None:
    text = answer(outcome(deployment={"replicas": 2, "tensor_parallel": 4}))
    assert text.startswith("8 × H100 (2 replicas of 4) serve 5 requests/s")


def test_a_target_on_a_percentile_is_judged_by_name() -> None:
    met = answer(outcome(slo={"ttft_p99_ms": 10_000, "max_gap_p50_ms": 10_000}))
    assert "TTFT p99, longest gap p50 inside the target; " in met
    missed = answer(outcome(slo={"ttft_p99_ms": 0.001, "tpot_ms": 1000}))
    assert "100% of requests inside the targets" in missed
    assert "TTFT p99 outside the target; " in missed
    few = answer(outcome(slo={"ttft_p99_ms": 1000}, run={"requests": 50}))
    assert "TTFT p99 not known (too few requests to judge); " in few


def test_a_missed_attainment_says_what_was_asked() -> None:
    text = answer(outcome(slo={"ttft_ms": 0.001, "attainment": 0.95}))
    assert "0% of requests inside the targets" in text
    assert ", 95.0% asked; " in text


def test_rejected_requests_are_no_part_of_what_is_served() -> None:
    lengths = {"kind": "uniform", "low": 100, "high": 299}
    workload = {**BASE["workload"], "input_tokens": lengths}  # type: ignore[dict-item]
    # 13 blocks of 16 hold 208 tokens: prompts up to about 198, half of them, can ever run
    text = answer(outcome(workload=workload, deployment={"num_gpu_blocks": 13}))
    assert text.startswith("1 × H100 serves 2.")
    assert " of 5 requests/s of tale: " in text
    assert re.search(r"tale: 4\d\d rejected of (1,0|9)\d\d requests; ", text)


def offered(per_s: float, requests: int, output_tokens: int) -> dict[str, Any]:
    traffic = {
        "arrivals": {"kind": "poisson", "requests_per_s": per_s},
        "input_tokens": {"kind": "fixed", "tokens": 1024},
        "output_tokens": {"kind": "fixed", "tokens": output_tokens},
    }
    return {"workload": traffic, "run": {"requests": requests}}


@pytest.mark.parametrize("requests", [20, 50, 100])
def test_a_run_that_is_over_before_the_first_answers_is_never_said_to_serve_its_rate(
    requests: int,
) -> None:
    # An 8B model reads 15 GB a pass: at 3.35 TB/s 1,024 tokens take more than 4.5 s.
    short = outcome(**offered(30, requests, 1024), slo={"ttft_ms": 60_000, "tpot_ms": 5000})
    text = answer(short)
    said = "Too short to tell whether 1 × H100 keeps up with 30 requests/s of tale: "
    assert text.startswith(f"{said}0 of {requests} requests had finished when the last one arr")
    assert "serves" not in text
    assert headline(short).startswith("Too short to tell whether ")
    assert not short.metrics.slo.met


def test_where_all_are_rejected_nothing_is_said_of_a_first_token_or_a_rate() -> None:
    one = {"name": "huge", **offered(4, 1, 10)}
    one["workload"]["input_tokens"] = {"kind": "uniform", "low": 10_000_000, "high": 10_000_000}
    why = "could never fit (context length or KV pool)."
    said = answer(outcome(**one))
    assert said == f"1 × H100 does not serve the one request of huge: rejected, because it {why}"
    said = answer(outcome(deployment={"num_gpu_blocks": 1}))
    assert said.startswith("1 × H100 serves none of the ")
    assert said.endswith(f" requests of tale: rejected, because they {why}")


def test_a_closed_loop_says_what_it_reached() -> None:
    loop = {**BASE["workload"], "arrivals": {"kind": "closed_loop", "users": 4}}  # type: ignore[dict-item]
    result = outcome(workload=loop)
    rate = result.metrics.throughput.requests_per_s
    assert rate is not None
    said = f"1 × H100 serves 4 users at once ({rate:,.0f} requests/s)"
    assert answer(result).startswith(f"{said} of tale: ")
    assert headline(result) == said


def test_the_headline_is_the_answer_without_intervals_latency_and_bound() -> None:
    price = {"usd_per_gpu_hour": 2.79, "source": "a round figure", "as_of": "undated"}
    result = outcome(deployment={"replicas": 2}, slo={"ttft_ms": 1000}, prices=price)
    # 2 GPUs x 2.79 USD x 730 h = 4,073 USD
    start = "2 × H100 serve 5 requests/s"
    rest = " for $4,073 a month: 100% of requests inside the targets"
    assert headline(result) == start + rest
    assert answer(result).startswith(f"{start} of tale{rest} [99.")


def test_a_headline_says_what_is_missed() -> None:
    assert headline(outcome(slo={"ttft_ms": 0.001})).endswith(
        ": 0% of requests inside the targets, 99.0% asked"
    )


def test_overload_is_the_answer_and_names_the_rate_that_is_sustained() -> None:
    flood = {**BASE["workload"], "arrivals": {"kind": "constant", "requests_per_s": 5000}}  # type: ignore[dict-item]
    result = outcome(workload=flood)
    metrics = replace(result.metrics, sustainable_requests_per_s=31.4)
    beaten = replace(result, metrics=metrics)
    # what binds stands between: tests of the limit
    assert headline(beaten).startswith("Overloaded: 1 × H100 cannot sustain 5,000 requests/s; ")
    assert headline(beaten).endswith("; it sustains about 31")
    of_tale = "Overloaded: 1 × H100 cannot sustain 5,000 requests/s of tale; "
    assert answer(beaten).startswith(of_tale)
    assert answer(beaten).endswith("; it sustains about 31.")
    unknown = replace(metrics, sustainable_requests_per_s=None)
    assert headline(replace(result, metrics=unknown)).endswith(
        "; too few requests to say what it can sustain"
    )


def test_a_rate_that_is_asked_is_said_as_it_is_written() -> None:
    arrivals = {"kind": "constant", "requests_per_s": 12.5}
    text = headline(outcome(workload={**BASE["workload"], "arrivals": arrivals}))  # type: ignore[dict-item]
    assert "serves 12.5 requests/s" in text


@pytest.mark.parametrize(
    ("decoding", "words"),
    [
        (
            {
                "name": "speculative",
                "draft_tokens": 1,
                "survival": [0.5],
                "draft": {"work_share": 0.1},
            },
            "speculative (chain, 1 draft token)",
        ),
        (
            {"name": "block_diffusion", "block_tokens": 8, "denoise_passes": 2, "what_if": True},
            "block diffusion (blocks of 8, 2 denoise passes, what-if)",
        ),
    ],
)
def test_the_context_names_the_strategy_and_that_its_times_are_assumed(
    decoding: Any, words: str
) -> None:
    text = context(outcome(decoding=decoding))
    assert words in text
    assert text.endswith("times assumed")


def test_every_target_has_a_name_for_people() -> None:
    assert target_label("ttlt_p90") == "TTLT p90"
    assert target_label("max_gap_p50") == "longest gap p50"
    assert target_label("tpot") == "TPOT"


def test_a_front_end_that_falls_behind_is_named_with_its_rate() -> None:
    # 4 requests of 100 tokens a second for a front end of 200 tokens/s: it hands out half
    slow = outcome(
        **offered(4, 400, 100), engine="generic", engine_options={"front_end_tokens_per_s": 200}
    )
    text = answer(slow)
    assert text.startswith("Overloaded: 1 × H100 cannot sustain 4 requests/s of tale: the front ")
    assert "the front end (200 tokens/s) cannot hand the answers out as fast" in text
    assert slow.metrics.sustainable_requests_per_s == pytest.approx(2.0, rel=0.02)
