"""The data itself: no figure off by a thousand, none without a source, no sparse peak."""

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import hardware_profiles
from sim.errors import InputError
from sim.hardware import GpuProfile, Sourced, list_gpus, load_engine, load_gpu
from sim.hardware.gpu_file import BANDS, GpuFile
from sim.yaml_files import read_yaml, validate

FOLDER = Path(hardware_profiles.__file__).parent
GIB = 2**30

# GB on the label (NVL72 racks: per GPU), and GB/s of the link as datasheets print it: both
# directions together, PCIe as 16 lanes of the generation.
DATASHEETS = """
v100_sxm_32gb 32 300, a100_sxm_40gb 40 600, a100_sxm_80gb 80 600, a100_pcie_40gb 40 64
a100_pcie_80gb 80 64, h100_sxm 80 900, h100_pcie 80 128, h100_nvl 94 128, h200_sxm 141 900
h20 96 900, h800 80 400, gh200 96 900, b200_sxm 180 1800, b300_sxm 288 1800, gb200 186 1800
gb300 288 1800, l4 24 64, l40s 48 64, a10 24 64, t4 16 32, rtx_4090 24 64, rtx_5090 32 128
rtx_pro_6000 96 128, mi300x 192 896, mi325x 256 896, mi355x 288 1075.2
"""
ROWS = [row.split() for row in DATASHEETS.strip().replace("\n", ",").split(",")]
MARKETED_GB = {name: float(label) for name, label, _ in ROWS}
LINK_BOTH_WAYS_GB_PER_S = {name: float(link) for name, _, link in ROWS}
# Matrix units arrived with the generation (vendors' architecture whitepapers).
WITHOUT_BF16 = {"t4", "v100_sxm_32gb"}
WITHOUT_FP8 = WITHOUT_BF16 | {
    *("a100_sxm_40gb", "a100_sxm_80gb", "a100_pcie_40gb", "a100_pcie_80gb", "a10"),
}
WITH_MXFP4 = {"b200_sxm", "b300_sxm", "gb200", "gb300", "rtx_5090", "rtx_pro_6000", "mi355x"}
WITH_NVFP4 = WITH_MXFP4 - {"mi355x"}


@pytest.fixture(params=list_gpus())
def gpu(request: pytest.FixtureRequest) -> GpuProfile:
    return load_gpu(str(request.param))


@cache
def _file(name: str) -> Mapping[str, Any]:
    return read_yaml(FOLDER / f"{name}.yaml")


def _figures() -> Iterator[tuple[str, str]]:
    for name in list_gpus():
        for key, value in _file(name).items():
            if isinstance(value, Mapping) and "value" in value:
                yield name, key


def _refuses(name: str, **factors: float) -> bool:
    content = copy.deepcopy(dict(_file(name)))
    for key, factor in factors.items():
        content[key]["value"] *= factor
    try:
        validate(GpuFile, content, name)
    except InputError:
        return True
    return False


def test_the_gpus_that_people_rent_are_there() -> None:
    assert set(list_gpus()) >= set(MARKETED_GB)
    assert len(MARKETED_GB) >= 20


def test_every_file_is_named_after_its_gpu(gpu: GpuProfile) -> None:
    assert gpu.name in list_gpus()
    assert gpu.vendor in {"NVIDIA", "AMD"}


@pytest.mark.parametrize("slip", [1000.0, 1 / 1000])
@pytest.mark.parametrize(("name", "key"), list(_figures()))
def test_a_slip_of_a_thousand_in_any_figure_is_refused(name: str, key: str, slip: float) -> None:
    assert key in BANDS, "a figure without a band"
    assert not _refuses(name, **{key: 1.0})
    assert _refuses(name, **{key: slip})


@pytest.mark.parametrize("slip", [8.0, 1 / 8])
@pytest.mark.parametrize("name", list_gpus())
def test_bits_for_bytes_in_the_link_are_refused(name: str, slip: float) -> None:
    assert _refuses(name, link_one_way_gb_per_s=slip)


@pytest.mark.parametrize("name", sorted(set(list_gpus()) - {"v100_sxm_32gb"}))
def test_one_sparse_peak_among_dense_ones_is_refused(name: str) -> None:
    peaks = [key for key in _file(name) if key.endswith("_dense_tflop_per_s")]
    excused = set(_file(name).get("unusual_ratios", {}))
    for key in peaks:
        if not any(ratio.startswith(key[:3]) for ratio in excused):
            assert _refuses(name, **{key: 2.0}), key


def test_flop_per_byte_lies_where_every_gpu_lies(gpu: GpuProfile) -> None:
    intensity = gpu.bf16_dense_flop_per_s.value / gpu.memory_bandwidth_bytes_per_s.value
    assert 20 < intensity < 1500, "FLOP per byte outside any GPU ever sold: check the units"


def test_each_narrower_format_is_twice_as_fast_unless_the_file_says_why(gpu: GpuProfile) -> None:
    excused = _file(gpu.name).get("unusual_ratios", {})
    half, fp8 = gpu.peak_flop_per_s("bf16"), gpu.peak_flop_per_s("fp8")
    int8, fp4 = gpu.peak_flop_per_s("int8"), gpu.peak_flop_per_s("mxfp4")
    assert half is not None
    if fp8 is not None:
        assert fp8 / half == pytest.approx(2, rel=0.05)
    if int8 is not None and "int8_to_half" not in excused:
        assert int8 / half == pytest.approx(2, rel=0.05)
    if fp4 is not None and fp8 is not None and "fp4_to_fp8" not in excused:
        assert fp4 / fp8 == pytest.approx(2, rel=0.05)
    assert all(len(reason) >= 20 for reason in excused.values())


def test_matrix_formats_are_those_of_the_generation(gpu: GpuProfile) -> None:
    assert gpu.half_precision == ("fp16" if gpu.name in WITHOUT_BF16 else "bf16")
    assert (gpu.peak_flop_per_s("fp8") is None) == (gpu.name in WITHOUT_FP8)
    assert gpu.peak_flop_per_s("fp8_block") == gpu.peak_flop_per_s("fp8")
    assert (gpu.peak_flop_per_s("mxfp4") is not None) == (gpu.name in WITH_MXFP4)
    assert (gpu.peak_flop_per_s("nvfp4") is not None) == (gpu.name in WITH_NVFP4)
    assert gpu.peak_flop_per_s("int4") is None
    assert gpu.peak_flop_per_s("fp16") == gpu.peak_flop_per_s("bf16")


def test_memory_is_close_to_but_not_above_what_the_label_says(gpu: GpuProfile) -> None:
    label = MARKETED_GB[gpu.name]
    # "80 GB" is 80 GiB of chips on most GPUs; Blackwell Ultra keeps 18 of its 288 GB to itself.
    assert 0.95 * label * 1e9 < gpu.memory_bytes.value < 1.0 * label * GIB
    assert 0.25e12 < gpu.memory_bandwidth_bytes_per_s.value < 20e12


def test_the_link_is_half_of_what_the_datasheet_prints(gpu: GpuProfile) -> None:
    both_ways = LINK_BOTH_WAYS_GB_PER_S[gpu.name] * 1e9
    assert gpu.link_one_way_bytes_per_s.value == pytest.approx(both_ways / 2)
    assert gpu.gpus_per_node.value in {1, 8, 72}
    assert 60 <= gpu.tdp_w.value <= 1500


def test_a_network_is_slower_than_the_link_and_says_that_it_is_assumed(gpu: GpuProfile) -> None:
    network = gpu.network_one_way_bytes_per_s
    if network is not None:
        assert network.value < gpu.link_one_way_bytes_per_s.value
        assert network.note is not None
        assert network.note.startswith("assumed")


def test_reading_all_of_the_memory_takes_between_10_and_100_ms(gpu: GpuProfile) -> None:
    assert 0.01 < gpu.memory_bytes.value / gpu.memory_bandwidth_bytes_per_s.value < 0.1


def test_every_figure_has_an_https_address_or_a_citation(gpu: GpuProfile) -> None:
    figures = [value for _, value in gpu if isinstance(value, Sourced)]
    assert len(figures) >= 7
    for figure in figures:
        assert figure.source.startswith("https://") or " " in figure.source
        assert figure.as_of == "undated" or figure.as_of > "2016"


def test_no_two_gpus_share_all_of_their_figures() -> None:
    figures = [
        tuple(value.value for _, value in load_gpu(name) if isinstance(value, Sourced))
        for name in list_gpus()
    ]
    assert len(set(figures)) == len(figures)


@pytest.mark.parametrize("name", ["generic", "vllm", "sglang", "trtllm"])
def test_every_engine_keeps_some_memory_for_itself(name: str) -> None:
    assert 0.1e9 < load_engine(name).memory_reserve_bytes < 20e9
