"""The pass is priced by the very forms that calibration fits, tables and floors included."""

import numpy as np
import pytest

from sim.cost.attention import decode_rates
from sim.cost.forms import decode_attention_s, gemm_s, prefill_attention_s
from sim.cost.plain import Plain
from sim.cost.prefill import Prefill
from sim.cost.residuals import Grid
from sim.hardware import GemmFit, load_fitted, load_gpu
from tests.laws.loads import machine

COST = machine("llama-3.1-70b", "h200_sxm", (2, 1, 1, 1), weights="fp8", kernels="vllm")
BANDWIDTH = COST.gpu.memory_bandwidth_bytes_per_s.value
PEAK = COST.gpu.peak_flop_per_s("bf16") or 0.0


def test_decode_attention_is_its_form_times_its_table() -> None:
    (kind,), sequences, context = COST.layers.attention, 48, 48 * 3000.0
    fit = COST.fitted.decode_attention["bf16"]
    assert fit.residual is not None
    rates = decode_rates(kind, COST.gpu, COST.fitted, "bf16", sequences)
    form_s = decode_attention_s(
        fit,
        items=sequences * 4.0,  # eight KV heads on two GPUs
        kv_bytes=context * kind.token_bytes,
        flop=context * kind.decode_pair_flop,
        flop_per_s=PEAK,
        bytes_per_s=BANDWIDTH,
    )
    ratio = Grid.of(fit.residual).log_ratio(items=192.0, heads_per_kv=8.0, head_dim=128.0)
    assert rates.seconds(context, context) / 80 == pytest.approx(float(form_s * np.exp(ratio)))


def test_prefill_attention_is_its_form_times_its_table() -> None:
    (kind,) = COST.layers.attention
    prefill = Prefill(kind, COST.gpu, COST.fitted, "bf16")
    fit, tokens, context = prefill.fit, 2 * 700.0, 2 * 1500.0
    pairs = 2 * (700 * 800 + 700 * 701 / 2)
    assert fit.residual is not None
    form_s = prefill_attention_s(
        fit,
        flop=pairs * kind.prefill_pair_flop,
        bytes_moved=context * kind.token_bytes + tokens * kind.query_bytes,
        flop_per_s=PEAK,
        bytes_per_s=BANDWIDTH,
    )
    ratio = Grid.of(fit.residual).log_ratio(
        query_tokens=700.0, items=2 * 32.0, heads_per_kv=8.0, head_dim=128.0
    )
    found = prefill.seconds(context, pairs, 2, tokens)
    assert found / 80 == pytest.approx(float(form_s * np.exp(ratio)))


def test_a_product_is_its_served_form_times_its_table() -> None:
    plain = Plain(COST.model, COST.gpu, COST.fitted, COST.layout, COST.layers)
    gemm = next(gemm for gemm, _ in COST.layers.gemms if gemm.name == "qkv projection")
    fit = COST.fitted.gemm["fp8"]
    assert fit.residual is not None
    assert fit.served_fixed_s == pytest.approx(4e-6)
    form_s = gemm_s(
        fit,
        tokens=100.0,
        inner=8192.0,
        outer=5120.0,
        weight_bytes=1.0,
        input_bytes=1.0,
        flop_per_s=COST.gpu.peak_flop_per_s("fp8") or 0.0,
        bytes_per_s=BANDWIDTH,
    )
    ratio = Grid.of(fit.residual).log_ratio(tokens=100.0, inner=8192.0, outer=5120.0)
    found = plain.gemm(gemm, 100.0, 1).seconds
    assert float(found) == pytest.approx(float(form_s * np.exp(ratio)))


def test_quantising_adds_what_its_terms_say() -> None:
    fit = GemmFit(
        fixed_s=5e-6,
        flop_efficiency=1,
        bandwidth_efficiency=1,
        p=300,
        quantise_bandwidth_efficiency=0.5,
        per_inner_s=1e-9,
        per_token_s=2e-9,
    )
    without = fit.model_copy(
        update={"quantise_bandwidth_efficiency": None, "per_inner_s": 0.0, "per_token_s": 0.0}
    )
    shape = {"tokens": 100.0, "inner": 1000.0, "outer": 10.0, "weight_bytes": 1.0}
    rates = {"input_bytes": 1.0, "flop_per_s": 1e12, "bytes_per_s": 1e9}
    added = gemm_s(fit, **shape, **rates) - gemm_s(without, **shape, **rates)  # type: ignore[arg-type]
    # M K (2 + 1) bytes at half of 1 GB/s, 1000 ns for K, 200 ns for M.
    assert float(added) == pytest.approx(100 * 1000 * 3 / 0.5e9 + 1e-6 + 0.2e-6)


def test_shapes_beyond_those_timed_are_named() -> None:
    narrow = machine("llama-3.1-70b", "h200_sxm", (1, 1, 1, 1), weights="fp8", kernels="vllm")
    assert any(part.startswith("lm head (outer 128,256)") for part in narrow.beyond_the_fits)
    assert not any(part.startswith("lm head") for part in COST.beyond_the_fits)
    generic = machine("llama-3.1-70b", "h200_sxm", (1, 1, 1, 1), weights="fp8")
    assert generic.beyond_the_fits == ()


def test_more_sequences_pay_more_for_the_same_context() -> None:
    (kind,) = COST.layers.attention
    few, many = (
        decode_rates(kind, COST.gpu, COST.fitted, "bf16", count).seconds(1e6, 1e6)
        for count in (8, 256)
    )
    assert many > few


@pytest.mark.parametrize("gpu", ["h100_sxm", "h200_sxm", "b200_sxm", "a100_sxm_80gb"])
@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_shipped_fits_keep_their_promises(gpu: str, engine: str) -> None:
    """Held-out errors that the documentation promises of bf16 products and all-reduces."""
    fitted = load_fitted(load_gpu(gpu), engine)
    evidence = fitted.gemm["bf16"].evidence
    assert evidence is not None
    assert evidence.held_out["all"] <= 0.08
    assert evidence.points > 5_000
    reduced = fitted.all_reduce.evidence
    assert reduced is not None
    assert reduced.held_out["all"] <= 0.15
