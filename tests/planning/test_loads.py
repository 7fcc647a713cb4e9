"""Which loads a sweep visits."""

from itertools import pairwise
from pathlib import Path

import pytest

from sim.errors import InputError
from sim.planning.loads import (
    check_points,
    estimated_capacity_requests_per_s,
    most_users,
    rate_ladder,
    user_ladder,
)
from sim.scenario import Scenario, build_scenario, resolve


def scenario(**deployment: int) -> Scenario:
    content = {
        "model": "llama-3.1-8b",
        "hardware": "h100_sxm",
        "deployment": deployment,
        "workload": {
            "arrivals": {"kind": "closed_loop", "users": 1},
            "input_tokens": {"kind": "fixed", "tokens": 100},
            "output_tokens": {"kind": "fixed", "tokens": 50},
        },
    }
    return build_scenario(content, where="test", folder=Path())


def test_users_double_up_to_what_a_replica_may_run() -> None:
    assert user_ladder(256, None) == (1, 2, 4, 8, 16, 32, 64, 128, 256)
    assert user_ladder(1, None) == (1,)


@pytest.mark.parametrize("most", [1, 2, 7, 100, 4096])
@pytest.mark.parametrize("points", [2, 5, 20])
def test_so_many_points_run_from_one_user_to_all_without_repeats(most: int, points: int) -> None:
    ladder = user_ladder(most, points)
    assert ladder[0] == 1
    assert ladder[-1] == most
    assert sorted(set(ladder)) == list(ladder)
    assert len(ladder) <= points


def test_a_small_kv_pool_limits_the_users_to_half_written_answers_that_fit() -> None:
    # 100 blocks of 16 tokens; a request half-way through holds 100 + 25 tokens.
    small = scenario(num_gpu_blocks=100)
    assert most_users(small, resolve(small)) == 12


def test_a_large_kv_pool_leaves_the_limit_to_max_sequences() -> None:
    large = scenario(max_sequences=64)
    assert most_users(large, resolve(large)) == 64


def test_rates_go_up_to_just_beyond_the_capacity() -> None:
    ladder = rate_ladder(100.0, 5)
    assert ladder[-1] == pytest.approx(105)
    ratios = [after / before for before, after in pairwise(ladder)]
    assert ratios == pytest.approx([ratios[0]] * 4)


def test_the_capacity_grows_with_the_replicas() -> None:
    one, four = scenario(replicas=1), scenario(replicas=4)
    single = estimated_capacity_requests_per_s(one, resolve(one))
    assert estimated_capacity_requests_per_s(four, resolve(four)) == pytest.approx(4 * single)


def test_one_point_is_no_curve() -> None:
    with pytest.raises(InputError, match="2 loads or more"):
        check_points(1)


def test_launches_of_kernels_count_only_where_no_graph_holds_a_lane() -> None:
    """Four stages of 64 sequences each: graphs of 64 hold them, and graphs of 32 do not."""

    def capacity(largest: int, launch_us: float) -> float:
        asked = scenario(pipeline_parallel=4, max_sequences=256, max_batched_tokens=8)
        graphs = {"graph_batch_sizes": (8, largest), "host_us_per_launch": launch_us}
        options = asked.engine_options.model_copy(update=graphs)
        changed = asked.model_copy(update={"engine_options": options})
        return estimated_capacity_requests_per_s(changed, resolve(changed))

    assert capacity(64, 50.0) == capacity(64, 0.0)
    assert capacity(32, 50.0) < capacity(32, 0.0)
