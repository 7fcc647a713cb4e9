from math import log, pi

import numpy as np
import pytest

from sim.hardware import load_universal
from sim.hardware.uncertainty import log_error


def test_a_median_error_becomes_the_sigma_whose_errors_have_that_median() -> None:
    found = log_error({"tpot_median_ape": 0.09})
    assert found is not None
    errors = np.abs(np.random.default_rng(0).normal(0, found.sigma, 200_000))
    assert np.median(errors) == pytest.approx(log(1.09), rel=0.01)
    assert "tpot_median_ape 9.0%" in found.basis


def test_a_mean_error_becomes_the_sigma_whose_errors_have_that_mean() -> None:
    found = log_error({"tpot_mean_ape": 0.1})
    assert found is not None
    errors = np.abs(np.random.default_rng(0).normal(0, found.sigma, 200_000))
    assert errors.mean() == pytest.approx(log(1.1), rel=0.01)


def test_serving_counts_before_kernels_and_of_kernels_those_that_a_run_uses() -> None:
    kernels = {"gemm.fp8": 0.04, "decode_attention.fp8": 0.08, "experts.fp8": 0.5}
    found = log_error(kernels, ("decode_attention.fp8", "gemm.fp8", "layer_overhead"))
    assert found is not None
    assert found.sigma == pytest.approx(log(1.06) / (2 / pi) ** 0.5, rel=1e-4)
    assert "experts" not in found.basis
    serving = log_error({**kernels, "tpot_median_ape": 0.05}, kernels)
    assert serving is not None
    assert "tpot" in serving.basis
    given = log_error({**kernels, "log_sigma": 0.07}, kernels)
    assert given is not None
    assert given.sigma == 0.07
    assert log_error(kernels, ("recurrent",)) is None


def test_kernels_of_ones_own_widen_the_error_of_serving_and_never_narrow_it() -> None:
    """No serving run was predicted with them: 30 % off is not made 5 % by runs of others."""
    errors = {"gemm.fp8": 0.3, "tpot_mean_ape": 0.05}
    own = log_error(errors, ("gemm.fp8",), {"gemm.fp8"})
    assert own is not None
    assert own.sigma == pytest.approx(log(1.3) / (2 / pi) ** 0.5, rel=1e-4)
    better = log_error({**errors, "gemm.fp8": 0.01}, ("gemm.fp8",), {"gemm.fp8"})
    assert better is not None
    assert better.basis.startswith("tpot_mean_ape")
    unused = log_error(errors, ("gemm.bf16",), {"gemm.fp8"})
    assert unused is not None
    assert unused.basis.startswith("tpot_mean_ape")


def test_an_error_that_is_not_established_is_none() -> None:
    assert log_error({}) is None
    assert log_error({"tpot_median_ape": None}) is None
    assert log_error({"bias": 0.5}) is None


def test_the_shipped_fallback_says_what_it_knows() -> None:
    error = load_universal().error
    assert (log_error(error) is None) == all(value is None for value in error.values())
