"""Can the GPU do this at all? Times in other units are off by a thousand from its datasheet."""

from typing import Final

import numpy as np

from calibration.timings.table import Timings
from sim.errors import InputError, SimError
from sim.hardware import GpuProfile, load_gpu
from sim.precision import BYTES_PER_WEIGHT, PRECISIONS, Precision

FASTEST: Final = 0.5
SLOWEST: Final = 200.0
"""Bounds of the median of measured time / time at the datasheet's peaks, for products that keep
the GPU busy: kernels reach 30 to 90 % of them, and libraries boost a little above."""
_BUSY_S: Final = 2e-5
"""A product that would take less than this at the peaks is all launch and latency."""


def check_plausible(timings: Timings, where: str) -> None:
    """Raise `InputError` where products are far faster or slower than the GPU's peaks allow."""
    products = timings.where(operation="gemm")
    for name in products.texts("gpu"):
        try:
            gpu = load_gpu(name)
        except SimError:
            continue  # no peaks to compare with: a CPU, or a GPU that has no profile
        for precision in PRECISIONS:
            _check(products.where(gpu=name, precision=precision), gpu, precision, where)


def _check(products: Timings, gpu: GpuProfile, precision: Precision, where: str) -> None:
    peak = gpu.peak_flop_per_s(precision)
    if peak is None or not len(products):
        return
    m, n, k = (products.number(name) for name in ("tokens", "outer", "inner"))
    size = BYTES_PER_WEIGHT[precision]
    ideal_s = np.maximum(
        2 * m * n * k / peak, (n * k + m * k) * size / gpu.memory_bandwidth_bytes_per_s.value
    )
    busy = ideal_s > _BUSY_S
    ratio = products.number("latency_s") / ideal_s
    if not len(ratio):
        return
    if float(np.median(ratio)) < FASTEST:
        problem = f"takes {float(np.median(ratio)):.2g} of the time that {gpu.name} needs"
        raise InputError(
            f"the median {precision} product {problem} at its peaks",
            where=where,
            remedy="times are in seconds (`latency_s`), or the GPU is another one",
        )
    if busy.sum() >= 3 and float(np.median(ratio[busy])) > SLOWEST:
        problem = f"takes {float(np.median(ratio[busy])):,.0f} times what {gpu.name} needs"
        raise InputError(
            f"the median large {precision} product {problem} at its peaks",
            where=where,
            remedy="times are in seconds (`latency_s`), or the GPU is another one",
        )
