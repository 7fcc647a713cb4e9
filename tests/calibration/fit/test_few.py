"""Few timings: what a sister knows is kept, and the stated error covers what was not seen."""

from collections.abc import Callable

import numpy as np
import pytest

from calibration.fit import fit_timings, to_document, to_profile
from calibration.fit.document import stated_error
from calibration.timings import Timings, checked, from_columns
from sim.errors import InputError
from sim.hardware import FittedProfile, GemmFit, GpuProfile
from sim.hardware.evidence import Evidence
from sim.hardware.residual import Axis, Residual

Plant = Callable[..., Timings]
SLOWER = 0.5
"""log(measured / form) that the sister's table holds everywhere."""


def _slower(profile: FittedProfile) -> FittedProfile:
    axes = (
        Axis(of="tokens", at=(1.0, 32768.0)),
        Axis(of="inner", at=(128.0, 65536.0)),
        Axis(of="outer", at=(128.0, 65536.0)),
    )
    table = Residual(axes=axes, hundredths=" ".join(["50"] * 8))
    gemm = profile.gemm["bf16"].model_copy(update={"residual": table})
    return profile.model_copy(update={"gemm": {**profile.gemm, "bf16": gemm}})


def test_coefficients_are_fitted_beside_the_sisters_table(
    products: Plant, h200: GpuProfile, planted: GemmFit
) -> None:
    sister = _slower(to_profile(fit_timings(products(), h200)))
    nine = products(points=9, noise=0.0, scale=np.exp(SLOWER), seed=3)
    (found,) = fit_timings(nine, h200, base=sister, base_name="sister").accepted
    assert isinstance(found.fit, GemmFit)
    # Form times table is what was planted: without the table in mind the form alone would have
    # to be 65 % slower, and would be counted twice.
    assert found.fit.fixed_s == pytest.approx(planted.fixed_s, rel=0.1)
    assert found.fit.flop_efficiency == pytest.approx(planted.flop_efficiency, rel=0.1)
    assert found.fit.bandwidth_efficiency == pytest.approx(planted.bandwidth_efficiency, rel=0.1)
    assert found.evidence.held_out["all"] < 0.05


def test_a_product_timed_five_times_too_slow_does_not_spoil_its_neighbours(
    products: Plant, h200: GpuProfile
) -> None:
    clean = products(noise=0.0)
    latency = clean.number("latency_s").copy()
    column = clean.table.column_names.index("latency_s")
    latency[::25] *= 5.0
    spoilt = clean.table.set_column(column, "latency_s", [latency])
    (found,) = fit_timings(checked(spoilt, "a test"), h200).accepted
    errors = np.abs(found.rows.predicted_s / clean.number("latency_s") - 1.0)
    assert float(np.median(errors)) < 0.02


def test_the_stated_error_of_nine_errors_is_the_upper_end_of_their_mean() -> None:
    evidence = Evidence(
        kernels="a test",
        points=9,
        range={},
        held_out={"all": 0.10},
        held_out_points=9,
        held_out_spread=0.0333,
    )
    # Exponentially distributed errors: 2 n mean / chi-squared(18; 5 %) = 18 x 0.10 / 9.390.
    assert stated_error(evidence) == pytest.approx(0.1917, abs=0.0005)
    wider = evidence.model_copy(update={"held_out_spread": 0.06})
    assert stated_error(wider) == pytest.approx(0.22)
    again = evidence.model_copy(update={"held_out_again": 0.2})  # the larger of both splits
    assert stated_error(again) == pytest.approx(0.3834, abs=0.001)
    many = evidence.model_copy(update={"held_out_spread": None})
    assert stated_error(many) == 0.10


@pytest.mark.parametrize("points", [9, 60])
def test_the_error_of_few_points_is_stated_above_the_one_found(
    products: Plant, h200: GpuProfile, points: int
) -> None:
    result = fit_timings(products(points=points, seed=5), h200)
    found = result.accepted[0].evidence.held_out["all"]
    assert to_document(result)["error"]["gemm.bf16"] > 1.2 * found


def test_a_refusal_says_which_timings_could_not_be_used(h200: GpuProfile) -> None:
    cold = np.array([True] + [False] * 19)
    facts = {
        "operation": "decode_attention",
        "precision": "bf16",
        "kv_precision": "bf16",
        "gpu": "h200_sxm",
        "engine": "vllm",
        "engine_version": "1.0",
        "source": "planted by a test",
        "query_tokens": 1,
        "heads": 32,
        "kv_heads": 8,
        "head_dim": 128,
        "value_dim": 128,
        "sequences": 4,
    }
    contexts = np.arange(100, 120)
    table = from_columns(
        {**facts, "latency_s": np.full(20, 2e-5), "cold": cold, "context_tokens": contexts}, 20
    )
    with pytest.raises(InputError, match=r"1 timings are too few: 4 at least \(of 20; not"):
        fit_timings(checked(table, "a test"), h200)


def _experts(routings: list[str]) -> Timings:
    facts = {
        "operation": "experts",
        "precision": "bf16",
        "gpu": "h200_sxm",
        "engine": "vllm",
        "engine_version": "1.0",
        "source": "planted by a test",
        "experts": 64,
        "active_experts": 4,
        "hidden_size": 2048,
        "intermediate_size": 1024,
        "tensor_parallel": 1,
        "expert_parallel": 1,
    }
    rows = len(routings)
    tokens = 1024 * np.arange(1, rows + 1)
    latency = 3e-4 + 1e-7 * tokens  # at the peak 2 x 4 x 6.3e6 FLOP a token take 0.5e-7 s
    table = from_columns(
        {**facts, "latency_s": latency, "tokens": tokens, "routing": routings}, rows
    )
    return checked(table, "a test")


def test_one_timing_of_the_most_lifelike_routing_does_not_drop_the_others(
    h200: GpuProfile,
) -> None:
    (found,) = fit_timings(_experts(["power_law_1.2"] + ["balanced"] * 8), h200).accepted
    assert found.evidence.points == 8
    assert found.evidence.note is not None
    assert "routed by balanced" in found.evidence.note
    (lifelike,) = fit_timings(_experts(["power_law_1.2"] * 4 + ["balanced"] * 8), h200).accepted
    assert lifelike.evidence.points == 4


@pytest.mark.parametrize(("quick", "refused"), [(2, False), (3, True)])
def test_two_of_nine_timings_below_the_floor_may_be_chance_three_are_not(
    products: Plant, h200: GpuProfile, quick: int, refused: bool
) -> None:
    # A tenth may be below: 0.9 of nine, and twice the root of 9 x 0.1 x 0.9 by chance: up to 2.7.
    nine = products(points=9, noise=0.0, seed=3)
    latency = nine.number("latency_s").copy()
    longest = np.argsort(latency)[::-1][:quick]  # of these the planted times are near the floor
    latency[longest] /= 2.0
    column = nine.table.column_names.index("latency_s")
    some = checked(nine.table.set_column(column, "latency_s", [latency]), "a test")
    if refused:
        with pytest.raises(InputError, match="quicker than the peaks"):
            fit_timings(some, h200)
    else:
        assert fit_timings(some, h200).accepted[0].part == "gemm.bf16"
