"""Names, files of the user's own, fall-backs that say so, and refusals in one sentence."""

from pathlib import Path

import pytest

import hardware_profiles
from sim.errors import InputError, UnknownNameError
from sim.hardware import load_engine, load_fitted, load_fitted_file, load_fitted_named, load_gpu

FOLDER = Path(hardware_profiles.__file__).parent
H100 = (FOLDER / "h100_sxm.yaml").read_text()
H100_FIT = (FOLDER / "fitted" / "h100_sxm__generic.yaml").read_text()


def _own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    return path


def test_figures_come_out_in_si_units() -> None:
    gpu = load_gpu("h100_sxm")
    assert gpu.memory_bytes.value == pytest.approx(79.11 * 2**30)
    assert gpu.memory_bandwidth_bytes_per_s.value == pytest.approx(3.35e12)
    assert gpu.peak_flop_per_s("fp8") == pytest.approx(1.979e15)
    assert gpu.l2_bytes is not None
    assert gpu.l2_bytes.value == 50 * 2**20


def test_the_universal_roofline_has_its_published_coefficients() -> None:
    fitted = load_fitted(load_gpu("h200_sxm"), "generic")
    for precision in ("bf16", "fp8"):
        gemm = fitted.gemm[precision]
        assert gemm.fixed_s == pytest.approx(4e-6)
        assert (gemm.flop_efficiency, gemm.bandwidth_efficiency, gemm.p) == (0.6, 0.8, 4)
        assert fitted.decode_attention[precision].fixed_s == pytest.approx(8e-6)
        assert fitted.decode_attention[precision].bandwidth_efficiency == 0.8
    assert fitted.prefill_attention["bf16"].fixed_s == pytest.approx(15e-6)
    assert fitted.prefill_attention["bf16"].flop_efficiency == 0.55
    assert fitted.all_reduce.fixed_s == pytest.approx(5e-6)
    assert fitted.all_reduce.per_extra_rank_s == pytest.approx(0.2e-6)
    assert fitted.all_reduce.bandwidth_efficiency == 0.6
    assert fitted.layer_overhead_s == pytest.approx(20e-6)


def test_an_engine_without_kernels_of_its_own_gets_the_generic_fit_of_the_gpu() -> None:
    fitted = load_fitted(load_gpu("b200_sxm"), "an engine of mine")
    assert (fitted.gpu, fitted.engine) == ("b200_sxm", "generic")


def test_an_engine_with_kernels_of_its_own_gets_them() -> None:
    fitted = load_fitted(load_gpu("h200_sxm"), "vllm")
    assert (fitted.gpu, fitted.engine, fitted.origin) == ("h200_sxm", "vllm", "calibrated")
    assert fitted.gemm["bf16"].residual is not None
    assert fitted.origin_of("gemm.bf16") == "calibrated"
    # What was not timed comes from the GPU's generic fit, and else from the universal roofline.
    assert fitted.origin_of("network.all_reduce") == "assumed"
    assert fitted.origin_of("layer_overhead") == "calibrated"


def test_a_profile_of_a_name_or_a_file_is_the_same() -> None:
    by_name = load_fitted_named("h200_sxm__vllm")
    assert by_name == load_fitted_named(FOLDER / "fitted" / "h200_sxm__vllm.yaml")


def test_a_gpu_without_a_fit_gets_the_universal_roofline_labelled_assumed(
    tmp_path: Path,
) -> None:
    gpu = load_gpu(_own(tmp_path, H100.replace("name: h100_sxm", "name: h100_of_mine")))
    fitted = load_fitted(gpu, "vllm")
    assert (fitted.gpu, fitted.origin) == ("h100_of_mine", "assumed")
    assert fitted.note is not None
    assert "universal" in fitted.note


@pytest.mark.parametrize("name", ["vllm", "sglang", "trtllm", "generic"])
def test_every_setting_of_an_engine_says_who_told_it(name: str) -> None:
    engine = load_engine(name)
    assert (engine.name, engine.requested) == (name, name)
    assert {"memory_reserve_gb", "host_us_per_pass"} <= {key for key, _, _ in engine.told_by}
    assert all(source for _, _, source in engine.told_by)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("H100", "h100_sxm"),
        ("h100-sxm", "h100_sxm"),
        ("A100", "a100_sxm_80gb"),
        ("b200", "b200_sxm"),
        ("h20_sxm", "h200_sxm"),
    ],
)
def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(name: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=f"did you mean .*{near}"):
        load_gpu(name)


def test_an_unknown_engine_is_refused_with_near_names() -> None:
    with pytest.raises(UnknownNameError, match="did you mean vllm"):
        load_engine("vlm")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("memory_gib:", "memory_gb:", "`memory_gb` is not a key here; did you mean `memory_gib`?"),
        ("  value: 3.35", "  value: 3350", "`memory_bandwidth_tb_per_s` is 3350, outside"),
        ("  value: 989.5", "  value: 9.895e14", "`bf16_dense_tflop_per_s` is 9.895e+14, outside"),
        ("  value: 79.11", "  value: 79.11 GiB", "`memory_gib.value` should be a valid number"),
        ("  value: 79.11", "  value: -79.11", "`memory_gib.value` should be greater than 0"),
        ("  value: 79.11", "  value: .nan", "`memory_gib.value`"),
        ("source: https://git", "source: http://git", "`memory_gib.source` should be an https"),
        ("as_of: 2025-10", "as_of: October", "`memory_gib.as_of` "),
        ("  as_of: 2025-10\n", "", "`memory_gib.as_of` is missing"),
        ("vendor: NVIDIA\n", "", "`vendor` is missing"),
    ],
)
def test_a_slip_in_a_gpu_file_is_told_with_file_and_key(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in H100
    path = _own(tmp_path, H100.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_gpu(path)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("flop_efficiency: 0.6", "flop_efficiency: 60", "`gemm.bf16.flop_efficiency`"),
        ("flop_efficiency: 0.6", "flop_eficiency: 0.6", "did you mean `flop_efficiency`?"),
        ("p: 4", "p: 0.5", "`gemm.bf16.p` should be greater than or equal to 1"),
        ("fixed_us: 4", "fixed_ms: 4", "did you mean `fixed_us`?"),
        ("fixed_us: 4", "fixed_us: -4", "`gemm.bf16.fixed_us`"),
        ("origin: calibrated", "origin: guessed", "`origin` should be"),
    ],
)
def test_a_slip_in_a_fitted_file_is_told_with_its_key(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    assert old in H100_FIT
    with pytest.raises(InputError) as caught:
        load_fitted_file(_own(tmp_path, H100_FIT.replace(old, new, 1)))
    assert problem in str(caught.value)


def test_a_directory_and_a_table_are_no_profiles(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="directory"):
        load_gpu(str(tmp_path))
    with pytest.raises(InputError, match="single value"):
        load_gpu(_own(tmp_path, "gpu,memory\nh100,80\n"))
