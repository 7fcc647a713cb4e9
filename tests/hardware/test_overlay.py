"""A fit of one's own changes what it holds and nothing else, and a copy changes nothing."""

from pathlib import Path

import pytest

from sim.errors import InputError
from sim.hardware import FittedProfile, load_engine, load_fitted, load_gpu
from sim.hardware.fitted_file import part_names
from sim.hardware.load import FITTED
from sim.hardware.overlay import load_over, part_of
from sim.scenario.habits import kernels_of

FACTS = """\
gpu: h200_sxm
engine: torch
origin: measured
source: our own timings
as_of: 2026-11
"""
PARTS = {
    "gemm.fp8": (
        "gemm: {fp8: {fixed_us: 5, flop_efficiency: 0.7, bandwidth_efficiency: 0.9, p: 2}}",
        0.02,
    ),
    "decode_attention.bf16": (
        "decode_attention: {bf16: {fixed_us: 9, flop_efficiency: 0.5, bandwidth_efficiency: 0.6}}",
        0.3,
    ),
    "all_reduce": (
        "all_reduce: {fixed_us: 25, per_extra_rank_us: 1, bandwidth_efficiency: 0.5}",
        None,
    ),
    "network.all_to_all": (
        "network: {all_to_all: {fixed_us: 25, per_extra_rank_us: 1, bandwidth_efficiency: 0.5}}",
        None,
    ),
    "layer_overhead": ("layer_overhead_us: 33", None),
}


def _own(folder: Path, part: str) -> Path:
    kernel, error = PARTS[part]
    stated = "" if error is None else f"error: {{{part}: {error}}}\n"
    path = folder / "mine.yaml"
    path.write_text(f"{FACTS}{stated}{kernel}\n", encoding="utf-8")
    return path


def _shipped() -> FittedProfile:
    return load_fitted(load_gpu("h200_sxm"), "vllm")


@pytest.mark.parametrize("part", PARTS)
def test_a_file_of_one_part_changes_that_part_alone(tmp_path: Path, part: str) -> None:
    shipped, mine = _shipped(), load_over(_shipped(), _own(tmp_path, part))
    changed = {
        name for name in part_names(shipped) if part_of(mine, name) != part_of(shipped, name)
    }
    assert changed == {part}
    assert set(part_names(mine)) == set(part_names(shipped))
    assert mine.own is not None
    assert mine.own.parts == {part}
    assert mine.origin_of(part) == "measured"
    assert {mine.origin_of(name) for name in set(part_names(shipped)) - changed} == {
        shipped.origin_of(name) for name in set(part_names(shipped)) - changed
    }
    assert mine.error.get(part) == PARTS[part][1]
    rest = {name: error for name, error in shipped.error.items() if name != part}
    assert {name: error for name, error in mine.error.items() if name != part} == rest


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_a_copy_of_the_shipped_fit_changes_nothing(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "copy.yaml"
    path.write_bytes((FITTED / f"h200_sxm__{engine}.yaml").read_bytes())
    gpu, preset = load_gpu("h200_sxm"), load_engine(engine)
    assert kernels_of(gpu, preset, path) == kernels_of(gpu, preset)


def test_what_the_engine_adds_is_added_to_kernels_of_ones_own_too(tmp_path: Path) -> None:
    """vLLM's preset: 4 us of small kernels a layer; quantising, 7 us a product, beside them."""
    gpu, vllm = load_gpu("h200_sxm"), load_engine("vllm")
    mine = kernels_of(gpu, vllm, _own(tmp_path, "gemm.fp8"))
    assert mine.layer_overhead_s == pytest.approx(4e-6)
    assert mine.gemm["fp8"].served_fixed_s == pytest.approx(5e-6 + 7e-6)
    assert "layer_overhead" not in kernels_of(load_gpu("l40s"), vllm).borrowed
    own_small = kernels_of(gpu, vllm, _own(tmp_path, "layer_overhead"))
    assert own_small.layer_overhead_s == pytest.approx(33e-6)


def test_without_a_shipped_fit_the_rest_is_assumed(tmp_path: Path) -> None:
    path = _own(tmp_path, "gemm.fp8")
    path.write_text(path.read_text().replace("h200_sxm", "mi300x"), encoding="utf-8")
    mine = load_over(load_fitted(load_gpu("mi300x"), "vllm"), path)
    assert mine.origin_of("gemm.fp8") == "measured"
    assert mine.origin_of("gemm.bf16") == "assumed"


def test_a_fit_of_another_gpu_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="fitted on h200_sxm, and the hardware is b200_sxm"):
        load_over(load_fitted(load_gpu("b200_sxm"), "vllm"), _own(tmp_path, "gemm.fp8"))
