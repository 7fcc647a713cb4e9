"""Timings of a GPU whose coefficients are known, since the test planted them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from calibration.timings import Timings, checked, from_columns
from sim.cost.forms import gemm_s
from sim.hardware import GemmFit, GpuProfile, load_gpu

PLANTED = GemmFit(fixed_s=3e-6, flop_efficiency=0.7, bandwidth_efficiency=0.85, p=2.0)
FACTS: dict[str, Any] = {
    "operation": "gemm",
    "precision": "bf16",
    "engine": "vllm",
    "engine_version": "1.0",
    "source": "planted by a test",
}


@pytest.fixture
def h200() -> GpuProfile:
    return load_gpu("h200_sxm")


@pytest.fixture
def planted() -> GemmFit:
    return PLANTED


Plant = Callable[..., Timings]


@pytest.fixture
def products(h200: GpuProfile) -> Plant:
    """Make timings of bf16 products by the planted fit, with a few per cent of noise."""

    def make(
        *,
        points: int | None = None,
        noise: float = 0.02,
        scale: float = 1.0,
        fit: GemmFit = PLANTED,
        seed: int = 0,
    ) -> Timings:
        rng = np.random.default_rng(seed)
        grid = [
            (m, n, k)
            for m in (1, 8, 32, 64, 128, 256, 512, 1024, 4096)
            for n in (512, 1024, 2048, 4096, 8192, 16384)
            for k in (512, 1024, 2048, 4096, 8192, 16384)
        ]
        chosen = rng.permutation(len(grid))[: points or len(grid)]
        m, n, k = (np.array([grid[row][axis] for row in chosen]) for axis in range(3))
        exact = gemm_s(
            fit,
            tokens=m.astype(float),
            inner=k.astype(float),
            outer=n.astype(float),
            weight_bytes=2.0,
            input_bytes=2.0,
            flop_per_s=h200.peak_flop_per_s("bf16") or 0.0,
            bytes_per_s=h200.memory_bandwidth_bytes_per_s.value,
        )
        latency = exact * np.exp(rng.normal(0.0, noise, len(chosen))) * scale
        columns = {**FACTS, "gpu": "h200_sxm", "latency_s": latency}
        shapes = {"tokens": m, "outer": n, "inner": k}
        return checked(from_columns({**columns, **shapes}, len(chosen)), "planted")

    return make
