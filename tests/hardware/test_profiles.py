"""The data itself: no figure off by a thousand, none without a source."""

from pathlib import Path

import pytest
from pydantic import BaseModel

import hardware_profiles
from sim.hardware import GpuProfile, Sourced, list_gpus, load_engine, load_fitted_file, load_gpu

FOLDER = Path(hardware_profiles.__file__).parent
FITTED = sorted((FOLDER / "fitted").glob("*.yaml"))
GIB = 2**30

MARKETED_GB = {"a100_sxm_80gb": 80, "h100_sxm": 80, "h200_sxm": 141, "b200_sxm": 180}
NVLINK_BOTH_WAYS_GB_PER_S = {
    "a100_sxm_80gb": 600,
    "h100_sxm": 900,
    "h200_sxm": 900,
    "b200_sxm": 1800,
}


@pytest.fixture(params=list_gpus())
def gpu(request: pytest.FixtureRequest) -> GpuProfile:
    return load_gpu(str(request.param))


def test_the_four_gpus_are_there() -> None:
    assert set(list_gpus()) >= set(MARKETED_GB)


def test_flop_per_byte_lies_where_every_gpu_lies(gpu: GpuProfile) -> None:
    intensity = gpu.bf16_dense_flop_per_s.value / gpu.memory_bandwidth_bytes_per_s.value
    assert 20 < intensity < 1500, "FLOP per byte outside any GPU ever sold: check the units"


def test_fp8_is_twice_bf16_so_no_sparse_figure_slipped_in(gpu: GpuProfile) -> None:
    fp8 = gpu.peak_flop_per_s("fp8")
    if fp8 is not None:
        assert fp8 / gpu.bf16_dense_flop_per_s.value == pytest.approx(2, rel=0.05)
    assert gpu.peak_flop_per_s("bf16") == gpu.bf16_dense_flop_per_s.value


def test_memory_is_close_to_but_not_above_what_the_label_says(gpu: GpuProfile) -> None:
    label = MARKETED_GB[gpu.name]
    # "80 GB" is 80 GiB of chips on A100 and H100; later labels are decimal and leave more out.
    assert 0.98 * label * 1e9 < gpu.memory_bytes.value < 1.0 * label * GIB
    assert 1e12 < gpu.memory_bandwidth_bytes_per_s.value < 20e12


def test_the_link_is_half_of_what_the_datasheet_prints(gpu: GpuProfile) -> None:
    both_ways = NVLINK_BOTH_WAYS_GB_PER_S[gpu.name] * 1e9
    assert gpu.link_one_way_bytes_per_s.value == both_ways / 2
    assert gpu.gpus_per_node.value == 8
    assert 300 <= gpu.tdp_w.value <= 1500


def test_reading_all_of_the_memory_takes_between_10_and_100_ms(gpu: GpuProfile) -> None:
    assert 0.01 < gpu.memory_bytes.value / gpu.memory_bandwidth_bytes_per_s.value < 0.1


def test_every_figure_has_an_https_address_or_a_citation(gpu: GpuProfile) -> None:
    figures = [value for _, value in gpu if isinstance(value, Sourced)]
    assert len(figures) >= 7
    for figure in figures:
        assert figure.source.startswith("https://") or " " in figure.source


def test_a100_has_no_fp8_units() -> None:
    assert load_gpu("a100_sxm_80gb").peak_flop_per_s("fp8") is None


@pytest.mark.parametrize("path", FITTED, ids=lambda path: path.stem)
def test_every_fitted_file_is_named_after_its_gpu_and_stays_below_the_peaks(path: Path) -> None:
    fitted = load_fitted_file(path)
    assert path.stem in {f"{fitted.gpu}__{fitted.engine}", fitted.gpu}
    assert set(fitted.decode_attention) == {"bf16", "fp8"}
    parts = [*fitted.gemm.values(), *fitted.decode_attention.values()]
    for part in (*parts, fitted.prefill_attention, fitted.all_reduce):
        assert isinstance(part, BaseModel)
        figures = part.model_dump()
        assert 1e-6 <= figures["fixed_s"] <= 100e-6, "microseconds: check the unit"
        assert all(0 < value <= 1 for key, value in figures.items() if "efficiency" in key)
    assert 0 <= fitted.layer_overhead_s <= 100e-6


def test_a_gpu_has_a_gemm_fit_for_exactly_the_precisions_it_has(gpu: GpuProfile) -> None:
    fitted = load_fitted_file(FOLDER / "fitted" / f"{gpu.name}__generic.yaml")
    assert ("fp8" in fitted.gemm) == (gpu.fp8_dense_flop_per_s is not None)


@pytest.mark.parametrize("name", ["generic", "vllm", "sglang", "trtllm"])
def test_every_engine_keeps_some_memory_for_itself(name: str) -> None:
    assert 0.1e9 < load_engine(name).memory_reserve_bytes < 20e9
