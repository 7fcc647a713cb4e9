"""A fit recovers what was planted, and refuses what cannot be."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from calibration.fit import fit_timings, to_profile, write_profile
from calibration.fit.judge import Accepted
from calibration.fit.report import report_page
from calibration.timings import Timings, checked, from_columns
from sim.errors import InputError
from sim.hardware import GemmFit, GpuProfile, load_fitted_file, load_universal

Plant = Callable[..., Timings]


def test_planted_coefficients_come_back(
    products: Plant, h200: GpuProfile, planted: GemmFit
) -> None:
    (found,) = fit_timings(products(), h200).accepted
    fit = found.fit
    assert isinstance(fit, GemmFit)
    assert fit.fixed_s == pytest.approx(planted.fixed_s, rel=0.05)
    assert fit.flop_efficiency == pytest.approx(planted.flop_efficiency, rel=0.03)
    assert fit.bandwidth_efficiency == pytest.approx(planted.bandwidth_efficiency, rel=0.03)
    assert fit.p == pytest.approx(planted.p, rel=0.1)
    # Noise of 2 %: the mean absolute error of a perfect fit is 2 % times sqrt(2 / pi).
    assert found.evidence.held_out["all"] == pytest.approx(0.02 * np.sqrt(2 / np.pi), rel=0.35)
    assert found.evidence.points == 9 * 36
    assert found.evidence.range["outer"] == (512, 16384)
    assert found.evidence.standard_errors["flop_efficiency"] < 0.02


def test_nine_points_and_a_sister_gpu_make_a_profile(
    products: Plant, h200: GpuProfile, planted: GemmFit
) -> None:
    sister = to_profile(fit_timings(products(), h200))
    other = planted.model_copy(update={"flop_efficiency": 0.64, "fixed_s": 3.6e-6})
    nine = products(points=9, fit=other, seed=3)
    (found,) = fit_timings(nine, h200, base=sister, base_name="sister").accepted
    assert found.evidence.base == "sister"
    assert found.evidence.points == 9
    rest = products(fit=other, seed=4, noise=0.0)
    assert _error(found, rest, h200) < 0.06


def _error(found: Accepted, timings: Timings, gpu: GpuProfile) -> float:
    """Mean absolute error of a fit, its table apart, on timings that it has not seen."""
    from sim.cost.forms import gemm_s

    assert isinstance(found.fit, GemmFit)
    seconds = gemm_s(
        found.fit,
        tokens=timings.number("tokens"),
        inner=timings.number("inner"),
        outer=timings.number("outer"),
        weight_bytes=2.0,
        input_bytes=2.0,
        flop_per_s=gpu.peak_flop_per_s("bf16") or 0.0,
        bytes_per_s=gpu.memory_bandwidth_bytes_per_s.value,
        served=False,
    )
    return float(np.abs(seconds / timings.number("latency_s") - 1).mean())


@pytest.mark.parametrize(
    ("scale", "said"),
    [
        (1e3, "times as long as the peaks of the GPU allow: latency_s is in seconds"),
        (0.5, "quicker than the peaks of the GPU allow"),
    ],
)
def test_timings_that_the_gpu_cannot_have_are_refused(
    products: Plant, h200: GpuProfile, scale: float, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        fit_timings(products(scale=scale), h200)


def test_a_fit_that_is_worse_than_its_base_is_refused(products: Plant, h200: GpuProfile) -> None:
    sister = to_profile(fit_timings(products(), h200))
    # The few points at hand are noise; the sister knows the shapes better.
    noisy = products(points=30, noise=0.9, seed=8)
    right = products(points=30, noise=0.0, seed=8)
    mixed = noisy.table.set_column(
        noisy.table.column_names.index("latency_s"), "latency_s", right.table["latency_s"]
    )
    (kept,) = fit_timings(checked(mixed, "a test"), h200, base=sister, base_name="sister").accepted
    assert kept.evidence.held_out["all"] < 0.03
    with pytest.raises(InputError, match=r"the base is better|quicker than the peaks"):
        fit_timings(noisy, h200, base=sister, base_name="sister")


def test_three_points_are_too_few(products: Plant, h200: GpuProfile) -> None:
    with pytest.raises(InputError, match="3 timings are too few"):
        fit_timings(products(points=3), h200)


def test_the_gpu_and_the_engine_must_be_among_the_timings(
    products: Plant, h200: GpuProfile
) -> None:
    l40s = h200.model_copy(update={"name": "l40s"})
    with pytest.raises(InputError, match="no timings of l40s: they are of h200_sxm"):
        fit_timings(products(), l40s)
    with pytest.raises(InputError, match=r"no kernels of sglang .* only of vllm"):
        fit_timings(products(), h200, engine="sglang")


def test_a_written_profile_is_read_back_and_says_how_well_it_is_known(
    products: Plant, h200: GpuProfile, tmp_path: Path
) -> None:
    result = fit_timings(products(), h200)
    path = write_profile(result, tmp_path / "h200_sxm__vllm.yaml", as_of="2026-11-30")
    fitted = load_fitted_file(path)
    assert fitted.origin_of("gemm.bf16") == "calibrated"
    assert fitted.origin_of("gemm.fp8") == "assumed"
    gemm = fitted.gemm["bf16"]
    assert gemm.residual is not None
    assert gemm.evidence is not None
    assert gemm.evidence.held_out["all"] == fitted.error["gemm.bf16"]
    assert gemm.evidence.base is None
    assert path.stat().st_size < 20_000
    assert fitted.decode_attention == load_universal().decode_attention


def test_the_page_shows_every_kernel_with_its_error(products: Plant, h200: GpuProfile) -> None:
    page = report_page(fit_timings(products(), h200))
    assert "gemm.bf16" in page
    for figure in ("residuals", "parity", "roof"):
        assert f'id="gemm-bf16-{figure}"' in page


def test_a_split_by_rows_of_all_reduces_recovers_latency_and_bandwidth(h200: GpuProfile) -> None:
    sizes = np.array([2**octave for octave in range(10, 28) for _ in range(3)], dtype=np.int64)
    ranks = np.array([2, 4, 8] * 18, dtype=np.int64)
    link = h200.link_one_way_bytes_per_s.value
    exact = 5e-6 + 0.4e-6 * (ranks - 2) + 2 * (ranks - 1) / ranks * sizes / (0.7 * link)
    facts = {
        "operation": "all_reduce",
        "precision": "bf16",
        "gpu": "h200_sxm",
        "engine": "vllm",
        "engine_version": "1.0",
        "source": "planted by a test",
    }
    table = from_columns(
        {**facts, "latency_s": exact, "ranks": ranks, "message_bytes": sizes}, len(sizes)
    )
    (found,) = fit_timings(checked(table, "a test"), h200).accepted
    assert found.part == "all_reduce"
    assert found.fit.fixed_s == pytest.approx(5e-6, rel=0.05)
    assert found.fit.model_dump()["bandwidth_efficiency"] == pytest.approx(0.7, rel=0.05)
    assert found.evidence.held_out["all"] < 0.02
