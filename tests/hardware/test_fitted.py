"""Coefficients below the peaks; what a GPU's file lacks is borrowed, whole and labelled."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

import hardware_profiles
from sim.errors import InputError
from sim.hardware import (
    Collectives,
    FittedProfile,
    list_gpus,
    load_fitted,
    load_fitted_file,
    load_gpu,
    load_universal,
)
from sim.hardware.fitted_file import FittedFile
from sim.precision import PRECISIONS
from sim.yaml_files import read_yaml

FOLDER = Path(hardware_profiles.__file__).parent / "fitted"
FILES = sorted(FOLDER.glob("*.yaml"))
FACTS = """
gpu: h100_of_mine
engine: vllm
origin: measured
source: our own timings
as_of: 2026-11
"""
ONE_GEMM = (
    FACTS
    + """
gemm:
  fp8: {fixed_us: 5, flop_efficiency: 0.7, bandwidth_efficiency: 0.9, p: 2}
network:
  all_to_all: {fixed_us: 25, per_extra_rank_us: 1, bandwidth_efficiency: 0.5}
"""
)


def _own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "h100_of_mine__vllm.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def _fits(profile: FittedProfile) -> Iterator[BaseModel]:
    for table in (
        *(profile.gemm, profile.experts),
        *(profile.decode_attention, profile.latent_attention),
        *(profile.prefill_attention, profile.latent_prefill),
    ):
        yield from table.values()
    yield profile.recurrent
    for where in (profile, profile.network):
        for name in Collectives.model_fields:
            yield getattr(where, name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_file_is_named_after_its_gpu_and_stays_below_the_peaks(path: Path) -> None:
    fitted = load_fitted_file(path)
    assert path.stem in {f"{fitted.gpu}__{fitted.engine}", fitted.gpu}
    assert fitted.gpu in {*list_gpus(), "universal"}
    for fit in _fits(fitted):
        figures = fit.model_dump()
        assert 1e-7 <= figures["fixed_s"] <= 150e-6, "microseconds: check the unit"
        assert all(
            0 < value <= 1
            for key, value in figures.items()
            if "efficiency" in key and value is not None
        )
    assert 0 <= fitted.layer_overhead_s <= 100e-6


def test_the_universal_roofline_holds_every_kernel_in_every_precision() -> None:
    universal = load_universal()
    assert universal.origin == "assumed"
    assert not universal.borrowed
    tables = (universal.gemm, universal.experts)
    for table in (*tables, universal.decode_attention, universal.latent_attention):
        assert set(table) == set(PRECISIONS)


@pytest.mark.parametrize("name", list_gpus())
def test_every_gpu_runs_every_kernel(name: str) -> None:
    fitted = load_fitted(load_gpu(name), "vllm")
    assert fitted.gpu == name
    assert set(fitted.gemm) == set(fitted.decode_attention) == set(PRECISIONS)
    has_own = any((FOLDER / f"{name}__{each}.yaml").is_file() for each in ("vllm", "generic"))
    assert (fitted.origin_of("gemm.bf16") == "assumed") == (not has_own)


def test_a_fit_of_a_precision_that_the_gpu_lacks_is_not_shipped() -> None:
    for path in FILES:
        if path.stem != "universal":
            file = FittedFile.model_validate(read_yaml(path))
            gpu = load_gpu(file.gpu)
            assert all(gpu.peak_flop_per_s(precision) for precision in file.gemm or {})


def test_what_a_file_lacks_is_borrowed_and_labelled_assumed(tmp_path: Path) -> None:
    fitted, universal = load_fitted_file(_own(tmp_path, ONE_GEMM)), load_universal()
    assert fitted.gemm["fp8"].fixed_s == pytest.approx(5e-6)
    assert fitted.gemm["bf16"] == universal.gemm["bf16"]
    assert fitted.network.all_to_all.fixed_s == pytest.approx(25e-6)
    assert fitted.network.all_reduce == universal.network.all_reduce
    assert fitted.experts == universal.experts
    assert fitted.layer_overhead_s == universal.layer_overhead_s
    measured = ("gemm.fp8", "network.all_to_all")
    assumed = ("gemm.bf16", "experts.fp8", "network.all_reduce", "all_to_all", "layer_overhead")
    assert {fitted.origin_of(part) for part in measured} == {"measured"}
    assert {fitted.origin_of(part) for part in assumed} == {"assumed"}


def test_the_kernels_of_a_gpu_with_a_fit_keep_its_origin() -> None:
    fitted = load_fitted(load_gpu("h200_sxm"), "generic")
    assert fitted.origin_of("gemm.fp8") == "calibrated"
    assert fitted.origin_of("all_reduce") == "calibrated"
    assert fitted.origin_of("experts.fp8_block") == "calibrated"
    assert fitted.origin_of("experts.nvfp4") == "assumed"
    assert fitted.origin_of("latent_attention.bf16") == "assumed"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (FACTS, "holds no kernel"),
        (ONE_GEMM.replace("p: 2", "p: 2, ec: 1"), "`gemm.fp8.ec` is not a key here"),
        (ONE_GEMM.replace(", p: 2", ""), "`gemm.fp8.p` is missing"),
        (ONE_GEMM.replace("fp8:", "fp9:"), "`gemm.fp9"),
        (ONE_GEMM.replace("all_to_all", "all_to_one"), "did you mean `all_to_all`?"),
        (ONE_GEMM.replace("0.9", "1.04"), "`gemm.fp8.bandwidth_efficiency`"),
    ],
)
def test_a_slip_in_a_file_of_ones_own_is_told_with_its_key(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        load_fitted_file(_own(tmp_path, text))
    assert problem in str(caught.value)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_prompts_over_a_latent_are_not_priced_by_absorbed_kernels(file: Path) -> None:
    """Those multiply 2 x 512 + 64 numbers a pair instead of 192 + 128: 3.4 times the FLOP.

    Counted in the FLOP of the other form they reach 1 / 3.4 of the peak at most.
    """
    kinds = FittedFile.model_validate(read_yaml(file)).latent_prefill or {}
    for kind in kinds.values():
        assert kind.flop_efficiency > (192 + 128) / (2 * 512 + 64)
