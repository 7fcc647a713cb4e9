"""Engines and schedulers by name, and what a scenario may set of them."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sim.cost import PassLoad
from sim.engine import Habits
from sim.errors import InputError
from sim.hardware import (
    EngineOptions,
    list_engines,
    list_gpus,
    load_engine,
    load_fitted,
    load_gpu,
)
from sim.provenance import not_modelled, provenance
from sim.scenario import Scenario, Serving, build_scenario, resolve
from sim.scenario.habits import SCHEDULERS, kernels_of

CONTENT: dict[str, Any] = {
    "model": "llama-3.1-8b",
    "hardware": "h100_sxm",
    "workload": {
        "arrivals": {"kind": "closed_loop", "users": 4},
        "input_tokens": {"kind": "fixed", "tokens": 100},
        "output_tokens": {"kind": "fixed", "tokens": 10},
    },
}


FAIR = {"kind": "chunked_prefill", "order": "fair"}


def scenario(**keys: Any) -> Scenario:
    return build_scenario({**CONTENT, **keys}, where="here", folder=Path())


def serving(**keys: Any) -> Serving:
    return resolve(scenario(**keys))


@pytest.mark.parametrize(("engine", "gpu"), [*product(list_engines(), list_gpus())])
def test_every_engine_has_kernels_on_every_gpu(engine: str, gpu: str) -> None:
    fitted = kernels_of(load_gpu(gpu), load_engine(engine))
    assert fitted.engine in {engine, "generic"}
    own = load_engine(engine).small_kernels_s_per_layer
    if own is not None and fitted.engine != engine:
        assert fitted.layer_overhead_s == own
        assert fitted.note is not None
        assert engine in fitted.note


def test_experts_in_mxfp4_may_be_those_of_another_engine() -> None:
    gpu, asked = load_gpu("b200_sxm"), EngineOptions(mxfp4_experts_of="trtllm")
    vllm, trtllm = (kernels_of(gpu, load_engine(name)) for name in ("vllm", "trtllm"))
    found = kernels_of(gpu, load_engine("vllm").with_options(asked))
    assert found.experts["mxfp4"] == trtllm.experts["mxfp4"]
    assert found.experts["fp8_block"] == vllm.experts["fp8_block"]
    assert "experts in MXFP4 of trtllm" in (found.note or "")


@pytest.mark.parametrize(("gpu", "whose"), [("h200_sxm", "trtllm"), ("b200_sxm", "vllm_triton")])
def test_experts_in_blocks_of_fp8_may_be_those_of_another_kernel(gpu: str, whose: str) -> None:
    asked = EngineOptions.model_validate({"fp8_block_experts_of": whose})
    profile, own = load_gpu(gpu), load_engine("vllm")
    found = kernels_of(profile, own.with_options(asked))
    assert found.experts["fp8_block"] == load_fitted(profile, whose).experts["fp8_block"]
    assert found.experts["mxfp4"] == kernels_of(profile, own).experts["mxfp4"]
    assert f"experts in blocks of FP8 of {whose}" in (found.note or "")
    name = "experts.fp8_block"  # its error comes with it
    assert found.error[name] == load_fitted(profile, whose).error[name]


@pytest.mark.parametrize("gpu", ["l40s", "a100_sxm_80gb"])
def test_kernels_that_nobody_timed_on_a_gpu_are_not_taken(gpu: str) -> None:
    profile, own = load_gpu(gpu), load_engine("vllm")
    asked = EngineOptions(fp8_block_experts_of="vllm_triton")
    assert kernels_of(profile, own.with_options(asked)).experts == kernels_of(profile, own).experts
    lent = EngineOptions(fp8_block_experts_of="trtllm")  # universal on A100: nothing to take
    if gpu == "a100_sxm_80gb":
        assert "experts in" not in (kernels_of(profile, own.with_options(lent)).note or "")


def test_the_generic_engine_has_no_habits() -> None:
    assert serving().limits.habits is None
    assert serving(engine="generic").limits.scheduler.kind == "chunked_prefill"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", SCHEDULERS)
def test_an_engine_may_name_any_scheduler_and_a_scenario_another(name: str) -> None:
    by_engine = serving(engine_options={"scheduler": name}).limits.scheduler
    by_scenario = serving(engine="sglang", scheduler={"kind": name}).limits.scheduler
    assert by_engine == by_scenario == SCHEDULERS[name]()


def test_an_option_replaces_the_setting_of_the_preset_and_says_so() -> None:
    options = {
        "ttft_offset_ms": 7,
        "tokenise_us_per_token": 3,
        "front_end_tokens_per_s": "unlimited",
        "pick_up_passes": 0,
    }
    asked = scenario(engine="sglang", engine_options=options)
    found = resolve(asked)
    habits = Habits(ingress_s=0.007, ingress_s_per_token=3e-6, stream_first_token=True)
    assert found.limits.habits == habits
    preset = load_engine("sglang")
    assert preset.host_s_per_pass > 0  # what is not asked for stays as in the preset
    assert found.cost.host_s(1) == preset.host_s_per_pass + preset.host_s_per_sequence
    part = provenance(asked, found)["engine"]
    assert part.origin == "assumed"
    assert "ttft_offset_ms" in part.source


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"engine_options": {"hold_pases": 3}}, "did you mean `hold_passes`"),
        ({"engine_options": {"stream_interval_tokens": 0}}, "greater than or equal to 1"),
        ({"engine_options": {"graph_batch_sizes": [8, 4]}}, "should rise"),
        ({"engine_options": {"memory_fraction": 1.5}}, "less than or equal to 1"),
        ({"scheduler": {"kind": "prefil_first"}}, "should be one of"),
        ({"scheduler": {"kind": "chunked_prefill", "ageing_s": 5}}, "goes with `order: priority`"),
        ({"scheduler": {"kind": "chunked_prefill", "class_weights": [1]}}, "`order: fair`"),
        ({"scheduler": FAIR | {"class_weights": 3}}, "by name, as in {chat: 3}"),
        ({"scheduler": FAIR | {"class_weights": [0]}}, "greater than 0"),
        ({"scheduler": {"kind": "decode_first", "refill_share": 1}}, "less than 1"),
    ],
)
def test_a_wrong_option_is_refused_in_one_sentence(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        scenario(**keys)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_kv_is_swapped_over_the_link_to_the_host() -> None:
    swap = {"kind": "chunked_prefill", "preemption": "swap"}
    # 16 tokens of 32 layers x 8 KV heads x (128 + 128) x 2 bytes, over 63 GB/s
    block = 16 * 32 * 8 * 256 * 2
    assert serving(scheduler=swap).limits.swap_s_per_block == pytest.approx(block / 63e9)
    two = serving(scheduler=swap, deployment={"tensor_parallel": 2})
    assert two.limits.swap_s_per_block == pytest.approx(block / 2 / 63e9)
    assert serving().limits.swap_s_per_block == 0.0


def test_each_engine_counts_its_memory_by_its_own_rule() -> None:
    memory = load_gpu("h100_sxm").memory_bytes.value
    plans = {name: serving(engine=name).memory for name in ("vllm", "trtllm", "sglang")}
    weights = plans["vllm"].weight_bytes

    def pool(name: str) -> float:
        return plans[name].blocks * plans[name].block_bytes

    block = plans["vllm"].block_bytes
    assert pool("vllm") == pytest.approx(0.9 * memory - weights - 1.5e9, abs=block)
    assert pool("trtllm") == pytest.approx(0.9 * (memory - weights - 3e9), abs=block)
    assert pool("sglang") == pytest.approx(0.9 * memory - weights - 1e9, abs=block)
    half = serving(engine="trtllm", deployment={"memory_fraction": 0.5}).memory
    assert half.blocks * block == pytest.approx(0.5 * (memory - weights - 3e9), abs=block)


def test_side_by_side_the_longer_of_gpu_and_host_counts() -> None:
    load = PassLoad(8, 8, 8.0, 8 * 500.0, 8 * 500.0)
    alone_s = serving().cost.pass_s(load)
    for host_us, both_s in ((alone_s * 1e6 / 2, alone_s), (alone_s * 2e6, 2 * alone_s)):
        options = {"host_us_per_pass": host_us, "asynchronous": True}
        cost = serving(engine_options=options).cost
        assert cost.pass_s(load) == pytest.approx(both_s)
        assert sum(part.total_s for part in cost.operations(load)) == pytest.approx(both_s)
        in_turn = serving(engine_options={**options, "asynchronous": False}).cost
        assert in_turn.pass_s(load) == pytest.approx(alone_s + host_us / 1e6)


def test_a_line_of_passes_bends_where_the_gpu_overtakes_the_host() -> None:
    alone = serving().cost
    growths = ((8 * 500.0, 8 * 500.0, 8.0, 8.0),)
    first_s, slope_s, _ = alone.line(8, 8, 8.0, growths)
    host_us = (first_s + 10.5 * slope_s) * 1e6
    cost = serving(engine_options={"host_us_per_pass": host_us, "asynchronous": True}).cost
    flat = cost.line(8, 8, 8.0, growths)
    assert flat[0] == pytest.approx(host_us / 1e6)
    assert flat[1:] == (0.0, 11)  # the twelfth pass is longer
    for number in range(15):
        tokens = 8 * (500.0 + number)
        took_s = cost.pass_s(PassLoad(8, 8, 8.0, tokens, tokens))
        assert took_s == pytest.approx(max(host_us / 1e6, first_s + number * slope_s))


def test_a_pass_is_filled_up_to_the_next_graph_and_larger_ones_cost_the_host_more() -> None:
    options = {"graph_batch_sizes": [4, 16], "eager_host_us_per_pass": 700}
    plain, cost = serving().cost, serving(engine_options=options).cost

    def decode(count: int) -> PassLoad:
        return PassLoad(count, count, 0.0, 1000.0, 1000.0)

    assert cost.pass_s(decode(5)) == pytest.approx(
        plain.pass_s(decode(16)), rel=1e-3
    )  # attention is not filled up
    assert cost.pass_s(decode(16)) == pytest.approx(plain.pass_s(decode(16)))
    assert cost.pass_s(decode(17)) == pytest.approx(plain.pass_s(decode(17)) + 700e-6)
    for load in (decode(3), decode(9), decode(40)):
        whole = sum(part.total_s for part in cost.operations(load))
        assert whole == pytest.approx(cost.pass_s(load))


def test_prompts_cost_the_host_by_pass_and_by_prompt() -> None:
    options = {"host_us_per_prefill_pass": 8000, "host_us_per_prompt": 300}
    load = PassLoad(2, 2, 2.0, 100.0, 100.0, 3, 300, 300.0, 15_000.0)
    more_s = serving(engine_options=options).cost.pass_s(load) - serving().cost.pass_s(load)
    assert more_s == pytest.approx(8e-3 + 3 * 300e-6)


def test_priorities_that_the_scheduler_does_not_look_at_are_told() -> None:
    classes = [
        {
            "name": name,
            "share": 0.5,
            "priority": priority,
            "input_tokens": {"kind": "fixed", "tokens": 100},
            "output_tokens": {"kind": "fixed", "tokens": 10},
        }
        for priority, name in enumerate(("first", "later"))
    ]
    workload = {"arrivals": {"kind": "closed_loop", "users": 4}, "classes": classes}
    said = " ".join(not_modelled(scenario(workload=workload)))
    assert "scheduler.order" in said
    order = {"kind": "prefill_first", "order": "priority"}
    assert "scheduler.order" not in " ".join(
        not_modelled(scenario(workload=workload, scheduler=order))
    )


def test_weights_of_classes_go_by_their_names() -> None:
    names = [{"name": name, "share": 0.5} for name in ("chat", "batch")]
    lengths = {"input_tokens": {"kind": "fixed", "tokens": 8}}
    served = resolve(
        scenario(
            scheduler=FAIR | {"class_weights": {"batch": 3}},
            workload={
                "arrivals": {"kind": "poisson", "requests_per_s": 1},
                "output_tokens": {"kind": "fixed", "tokens": 8},
                "classes": names,
                **lengths,
            },
        )
    )
    assert served.limits.scheduler.class_weights == (1.0, 3.0)
