"""How hard the GPU worked, against counts by hand."""

import numpy as np
import pytest

from sim.cost import ForwardPass, KvShape, PassLoad, usage, usage_of_all
from sim.decoding import Autoregressive
from sim.engine import Limits, simulate
from sim.records import Leaps, Simulation, Traffic
from tests.laws.building import a_cost
from tests.laws.machines import lossless

LAYERS, HEAD = 32 * 218_103_808, 128_256 * 4096
ROOMY = Limits(
    replicas=1,
    max_sequences=512,
    max_batched_tokens=1 << 20,
    kv=KvShape(blocks=1 << 20, block_tokens=16),
    max_context_tokens=1 << 20,
)


def served(cost: ForwardPass, prompt: int, answer: int, batch: int = 1) -> Simulation:
    inputs, outputs = np.full(batch, prompt), np.full(batch, answer)
    traffic = Traffic(np.zeros(batch), inputs, outputs, measured=batch)
    return simulate(traffic, outputs - 1, Autoregressive(), cost, ROOMY)


@pytest.mark.truth
def test_decoding_alone_on_peaks_uses_nearly_all_of_the_bandwidth() -> None:
    cost = lossless(a_cost())
    seen = served(cost, 1, 1000)
    found = usage(cost, seen.leaps)
    assert found is not None
    # weights are read in every pass; KV of 1..1000 tokens: 1000 x 1001 / 2 in all
    moved = 1000 * 2 * (LAYERS + HEAD) + 131_072 * 1000 * 1001 / 2
    busy_s = seen.records.last_token_s[0]
    assert found.mbu == pytest.approx(moved / (3.35e12 * busy_s), rel=1e-9)
    assert 0.98 < found.mbu < 1
    assert found.bound == "memory"
    # each pass: layers and head for one token, and its pairs
    flop = 1000 * 2 * (LAYERS + HEAD) + 32 * 4 * 4096 * 1000 * 1001 / 2
    assert found.mfu == pytest.approx(flop / (989.5e12 * busy_s), rel=1e-9)


@pytest.mark.truth
def test_a_long_prompt_on_peaks_uses_nearly_all_of_the_arithmetic() -> None:
    cost = lossless(a_cost())
    seen = served(cost, 20_000, 1)
    found = usage(cost, seen.leaps)
    assert found is not None
    flop = 2 * (20_000 * LAYERS + HEAD) + 32 * 4 * 4096 * 20_000 * 20_001 / 2
    busy_s = seen.records.last_token_s[0]
    assert found.mfu == pytest.approx(flop / (989.5e12 * busy_s), rel=1e-9)
    assert 0.9 < found.mfu < 1
    assert found.bound == "compute"


def test_slots_that_pad_a_pass_to_a_captured_graph_are_no_useful_work() -> None:
    cost = lossless(a_cost())
    graphs = cost.engine.model_copy(update={"graph_batch_sizes": (1024,)})
    filled = ForwardPass(cost.model, cost.gpu, cost.fitted, graphs, cost.deployment)
    seen = served(filled, 1, 100, batch=5)
    found = usage(filled, seen.leaps)
    assert found is not None
    # 5 prompts of one token, then 99 passes of 5 sequences that see 2..100 tokens
    flop = 500 * 2 * (LAYERS + HEAD) + 32 * 4 * 4096 * 5 * 100 * 101 / 2
    busy_s = seen.records.last_token_s[0]
    assert found.mfu == pytest.approx(flop / (989.5e12 * busy_s), rel=1e-9)
    # the time is that of 1,024 positions: two hundred times the useful work, bound by arithmetic
    assert busy_s > 0.9 * 100 * 1024 * 2 * LAYERS / 989.5e12
    assert found.mfu < 0.01


def test_shares_by_bound_make_the_whole() -> None:
    cost = a_cost(tensor_parallel=4, host_s=1e-5)
    found = usage(cost, served(cost, 300, 100, batch=40).leaps)
    assert found is not None
    assert sum(found.share_by_bound.values()) == pytest.approx(1.0)
    assert {"memory", "collective", "host"} <= set(found.share_by_bound)
    assert found.bound == max(found.share_by_bound, key=lambda bound: found.share_by_bound[bound])
    assert 0 < found.mfu < 1
    assert 0 < found.mbu < 1


def test_nothing_used_is_unknown_and_not_zero() -> None:
    nothing = served(a_cost(), 1, 1, batch=1).leaps
    empty = Leaps(**{name: getattr(nothing, name)[:0] for name in Leaps.__dataclass_fields__})
    assert usage(a_cost(), empty) is None


def test_small_passes_on_a_fast_gpu_are_bound_by_launches() -> None:
    cost = a_cost(gpu="b200_sxm", tensor_parallel=8, fp8=True)
    parts = {part.name: part for part in cost.operations(PassLoad(1, 1, 1.0, 100.0, 100.0))}
    assert parts["output projection"].bound == "launch"
    assert parts["small kernels"].bound == "launch"
    assert parts["all-reduce"].bound == "collective"


def test_the_usage_of_several_runs_is_that_of_their_busy_time() -> None:
    cost = a_cost()
    short, long = served(cost, 300, 10, batch=40), served(cost, 300, 100)
    parts = [usage(cost, one.leaps) for one in (short, long)]
    both = usage_of_all([part for part in parts if part is not None])
    assert both is not None
    one, two = parts
    assert one is not None
    assert two is not None
    assert both.busy_s == one.busy_s + two.busy_s
    # bytes and FLOP of both over the peaks in the time of both
    for name in ("mbu", "mfu"):
        work = getattr(one, name) * one.busy_s + getattr(two, name) * two.busy_s
        assert getattr(both, name) == pytest.approx(work / both.busy_s)
    assert sum(both.share_by_bound.values()) == pytest.approx(1.0)
    assert usage_of_all([]) is None
