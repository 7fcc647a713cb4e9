"""The frontier of a scenario: rows, targets, widths, seeds."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

from sim.errors import InputError
from sim.planning import Frontier, frontier
from sim.planning.assumptions import unsteady
from sim.planning.point import Load, Point, PointStatus
from sim.planning.rounds import _no_luck
from sim.scenario import Scenario, build_scenario

COLUMNS = (
    "strategy,hardware,tensor_parallel,replicas,requests_per_s,users,user_tokens_per_s,"
    "output_tokens_per_s_per_gpu,output_tokens_per_usd,ttft_p99_ms,max_gap_p99_ms,status,note"
)
SPECULATIVE = {
    "name": "speculative",
    "draft_tokens": 3,
    "survival": [0.7, 0.5, 0.3],
    "draft": {"work_share": 0.1},
}
BLOCKS = {"name": "block_diffusion", "block_tokens": 32, "denoise_passes": 8, "what_if": True}


def scenario(**changes: object) -> Scenario:
    content: dict[str, Any] = {
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "deployment": {"replicas": 2, "max_sequences": 16},
        "strategies": [SPECULATIVE, BLOCKS],
        "workload": {
            "arrivals": {"kind": "poisson", "requests_per_s": 1},
            "input_tokens": {"kind": "fixed", "tokens": 500},
            "output_tokens": {"kind": "uniform", "low": 64, "high": 192},
        },
        "prices": {"usd_per_gpu_hour": 3.6, "source": "made up for a test", "as_of": "2026-01"},
        **changes,
    }
    return build_scenario(content, where="test", folder=Path())


@cache
def swept() -> Frontier:
    return frontier(scenario(), points=3, requests=60)


def column(found: Frontier, strategy: str, key: str) -> list[Any]:
    return [row[key] for row in found.rows() if row["strategy"] == strategy]


def test_the_file_has_the_agreed_columns_and_a_row_for_every_point() -> None:
    header, *lines = swept().csv().splitlines()
    assert header == COLUMNS
    assert len(lines) == len(swept().points) == 9
    assert {line.split(",")[0] for line in lines} == {
        "autoregressive",
        "speculative",
        "block_diffusion",
    }


def test_users_and_rates_are_those_of_all_replicas() -> None:
    # Geometric steps from 1 to 16 users a replica, on two replicas.
    assert column(swept(), "autoregressive", "users") == [2, 8, 32]
    for row in swept().rows():
        per_gpu, rate = row["output_tokens_per_s_per_gpu"], row["requests_per_s"]
        assert isinstance(per_gpu, float)
        assert isinstance(rate, float)
        # 128 tokens an answer on average, two GPUs: sampled answers differ by some percent.
        assert per_gpu * 2 == pytest.approx(rate * 128, rel=0.15)


def test_more_users_get_less_each_and_more_out_of_the_gpu() -> None:
    for strategy in ("autoregressive", "speculative", "block_diffusion"):
        speeds = column(swept(), strategy, "user_tokens_per_s")
        assert speeds == sorted(speeds, reverse=True)
    per_gpu = column(swept(), "autoregressive", "output_tokens_per_s_per_gpu")
    assert per_gpu == sorted(per_gpu)


def test_tokens_per_usd_follow_from_the_price_of_a_gpu_hour() -> None:
    # 3.60 USD an hour are a thousand seconds for a dollar.
    for point in swept().points:
        assert point.output_tokens_per_s_per_gpu is not None
        assert point.output_tokens_per_usd == pytest.approx(
            1000 * point.output_tokens_per_s_per_gpu
        )


def test_without_a_price_there_is_no_cost() -> None:
    found = frontier(scenario(prices=None, strategies=[]), points=2, requests=20)
    assert column(found, "autoregressive", "output_tokens_per_usd") == [None, None]
    assert found.ladder()[0].output_tokens_per_usd == {"autoregressive": None}


def test_without_listed_strategies_the_own_one_is_swept_alone() -> None:
    found = frontier(scenario(strategies=[]), points=2, requests=20)
    assert [item.strategy for item in found.entries] == ["autoregressive"]


def test_the_baseline_is_the_autoregressive_one_wherever_it_stands() -> None:
    found = frontier(
        scenario(decoding=SPECULATIVE, strategies=[BLOCKS, {"name": "autoregressive"}]),
        points=2,
        requests=20,
    )
    assert found.baseline == "autoregressive"
    assert {item.strategy for item in found.entries} == {
        "autoregressive",
        "speculative",
        "block_diffusion",
    }


def test_two_of_a_kind_are_told_apart() -> None:
    drafters = [{**SPECULATIVE, "drafter": name} for name in ("eagle3", "lookup")]
    found = frontier(scenario(strategies=drafters), points=2, requests=20)
    assert [item.strategy for item in found.entries] == [
        "autoregressive",
        "speculative:eagle3",
        "speculative:lookup",
    ]


def test_the_same_seed_gives_the_same_bytes_whatever_the_workers() -> None:
    again = frontier(scenario(), points=3, requests=60, workers=2)
    assert again.csv() == swept().csv()


def test_another_seed_gives_other_requests() -> None:
    other = frontier(scenario(), points=3, requests=60, seed=1)
    assert other.csv() != swept().csv()
    assert other.scenario.run.seed == 1


def strict(slo: Mapping[str, float]) -> Frontier:
    return frontier(scenario(slo=slo, strategies=[]), points=3, requests=60)


def test_a_point_that_misses_a_target_is_shown_and_does_not_count() -> None:
    times = column(strict({}), "autoregressive", "status")
    assert times == ["ok", "ok", "ok"]
    found = strict({"ttft_ms": 0.001})
    assert set(column(found, "autoregressive", "status")) == {"misses target"}
    assert found.ladder() == ()
    assert found.regions() == ()


def test_a_target_on_the_speed_is_read_off_the_axis_instead() -> None:
    assert set(column(strict({"tpot_ms": 0.001}), "autoregressive", "status")) == {"ok"}


def test_a_second_round_looks_closer_where_a_target_stops_a_curve() -> None:
    calm = frontier(scenario(strategies=[]), points=2, requests=60)
    light, heavy = (point.user_tokens_per_s or 0.0 for point in calm.points)
    assert len(calm.points) == 2
    # The longest gap is a pass with somebody's prompt in it, which one user alone never sees.
    found = frontier(scenario(strategies=[], slo={"max_gap_ms": 12}), points=2, requests=60)
    assert len(found.points) == 5
    first, *between, last = (point.user_tokens_per_s or 0.0 for point in found.points)
    assert (first, last) == (light, heavy)
    assert all(heavy < speed < light for speed in between)
    assert found.points[0].status == "ok"
    assert found.points[-1].status == "misses target"


def test_a_width_that_does_not_fit_is_a_row_without_numbers() -> None:
    found = frontier(
        scenario(model="llama-3.1-70b", deployment={"replicas": 8}, strategies=[]),
        tensor_parallel=(1, 4),
        points=2,
        requests=20,
    )
    unfit, *fitting = found.points
    assert (unfit.status, unfit.user_tokens_per_s) == ("does not fit", None)
    assert "GB per GPU" in unfit.note
    # Eight GPUs make two replicas of four.
    assert {(point.tensor_parallel, point.replicas) for point in fitting} == {(4, 2)}


def test_where_nothing_fits_it_is_the_inputs_mistake() -> None:
    with pytest.raises(InputError, match="GB per GPU"):
        frontier(scenario(model="llama-3.1-70b", strategies=[]), points=2, requests=20)


def test_a_trace_is_swept_over_its_rate(tmp_path: Path) -> None:
    rows = "".join(f"{0.5 * number},400,100\n" for number in range(60))
    path = tmp_path / "trace.csv"
    path.write_text(f"arrival_s,input_tokens,output_tokens\n{rows}")
    traced = scenario(strategies=[], workload={"arrivals": {"kind": "trace", "path": str(path)}})
    found = frontier(traced, points=3)
    assert column(found, "autoregressive", "users") == [None] * 3
    rates = column(found, "autoregressive", "requests_per_s")
    assert rates == sorted(rates)
    assert column(found, "autoregressive", "replicas") == [2] * 3


def test_ctrl_c_leaves_a_frontier_of_what_was_computed() -> None:
    def stop_after_four(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    found = frontier(scenario(), points=3, requests=60, workers=1, on_point=stop_after_four)
    assert not found.complete
    assert found.points == swept().points[:4]


def test_what_is_assumed_is_said() -> None:
    text = " ".join(swept().assumptions)
    assert "closed loop" in text
    assert "Speculative: acceptance: " in text
    assert "Block diffusion: a what-if" in text
    assert set(swept().provenance) == {item.strategy for item in swept().entries}


def a_point(users: int, per_gpu: float, status: str) -> Point:
    return Point(
        strategy="autoregressive",
        hardware="h100_sxm",
        tensor_parallel=1,
        replicas=1,
        requests_per_s=1.0,
        users=users,
        user_tokens_per_s=10.0,
        output_tokens_per_s_per_gpu=per_gpu,
        output_tokens_per_usd=None,
        ttft_p99_s=None,
        max_gap_p99_s=None,
        status=cast("PointStatus", status),
    )


def test_a_target_missed_at_a_lighter_load_is_not_kept_at_a_heavier_one() -> None:
    loads = [Load("autoregressive", "h100_sxm", scenario(), 60, users) for users in (1, 2, 4, 8)]
    statuses = ("ok", "misses target", "ok", "overloaded")
    points = [a_point(1, 1.0, status) for status in statuses]
    found = {id(load): point for load, point in zip(loads, points, strict=True)}
    turned = _no_luck(loads, found)
    assert [turned[id(load)].status for load in loads if id(load) in turned] == ["misses target"]
    assert "within the noise" in turned[id(loads[2])].note


def test_a_throughput_that_falls_with_the_load_is_told() -> None:
    (told,) = unsteady([a_point(*point, "ok") for point in ((1, 100.0), (2, 97.0), (4, 90.0))])
    assert "4 users get 7% less out of a GPU than 2 users: " in told


def test_a_miss_says_which_share_of_the_requests_decided_it() -> None:
    found = frontier(scenario(slo={"ttft_ms": 1, "attainment": 0.9}), points=2, requests=20)
    assert {row["note"] for row in found.rows()} == {
        "misses ttft kept by 0.0% of the requests, 90.0% asked"
    }
