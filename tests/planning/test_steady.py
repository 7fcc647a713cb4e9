"""A closed loop in its steady state."""

from pathlib import Path

import pytest

from sim.planning.steady import serve_users
from sim.run import run
from sim.scenario import Scenario, build_scenario


def scenario(output: dict[str, object], requests: int = 100) -> Scenario:
    content = {
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": 1},
            "input_tokens": {"kind": "fixed", "tokens": 1000},
            "output_tokens": output,
        },
        "run": {"requests": requests},
        "prices": {"usd_per_gpu_hour": 3.6, "source": "made up for a test", "as_of": "2026-01"},
    }
    return build_scenario(content, where="test", folder=Path())


SPREAD: dict[str, object] = {"kind": "uniform", "low": 50, "high": 250}


def test_users_in_flight_are_rate_times_time_as_littles_law_says() -> None:
    metrics = serve_users(scenario(SPREAD), 16, 600).metrics
    rate, stay_s = metrics.throughput.requests_per_s, metrics.latency["ttlt"].mean
    assert rate is not None
    assert stay_s is not None
    assert rate * stay_s == pytest.approx(16, rel=0.015)


def test_whole_turns_of_all_users_are_measured_at_least_as_many_requests_as_asked_for() -> None:
    assert serve_users(scenario(SPREAD), 8, 300).metrics.requests.offered == 304
    assert serve_users(scenario(SPREAD), 100, 150).metrics.requests.offered == 400


@pytest.mark.parametrize("requests", [60, 100, 400])
def test_users_in_step_are_as_many_answers_a_turn_as_there_are_users(requests: int) -> None:
    # Equal requests: each user gets one answer per stay, however few turns are measured.
    metrics = serve_users(scenario({"kind": "fixed", "tokens": 64}), 24, requests).metrics
    rate, stay_s = metrics.throughput.requests_per_s, metrics.latency["ttlt"].mean
    assert rate is not None
    assert rate * (stay_s or 0) == pytest.approx(24, rel=0.005)


def test_one_user_alone_is_as_fast_as_in_a_benchmark_with_one_user() -> None:
    fixed: dict[str, object] = {"kind": "fixed", "tokens": 100}
    alone = serve_users(scenario(fixed), 1, 20).metrics.throughput.user_tokens_per_s
    benchmark = run(scenario(fixed, requests=20)).metrics.throughput.user_tokens_per_s
    assert alone == pytest.approx(benchmark)


def test_one_user_s_requests_follow_each_other_without_a_gap() -> None:
    metrics = serve_users(scenario({"kind": "fixed", "tokens": 100}), 1, 20).metrics
    # The request that ends as the first measured one begins belongs to the time before.
    assert metrics.throughput.requests_per_s == pytest.approx(
        1 / (metrics.latency["ttlt"].mean or 0)
    )


def test_the_burst_of_the_start_is_not_in_the_wait_for_the_first_token() -> None:
    crowd = scenario(SPREAD, requests=400)
    crowd = crowd.with_workload(crowd.workload.with_users(64))
    benchmark = run(crowd).metrics.latency["ttft"].mean
    steady = serve_users(crowd, 64, 400).metrics.latency["ttft"].mean
    assert steady is not None
    assert benchmark is not None
    assert steady < benchmark / 2


def test_the_bill_is_the_price_over_the_throughput() -> None:
    found = serve_users(scenario(SPREAD), 16, 200)
    rate = found.metrics.throughput.output_tokens_per_s
    assert rate is not None
    assert found.cost is not None
    # 3.60 USD an hour are 0.001 USD a second.
    assert found.cost.usd_per_million_output_tokens_all_in == pytest.approx(0.001 / rate * 1e6)
