"""Matrix products: seven coefficients where the kernel quantises its activations, else four."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np

from calibration.fit.grid import GridTable, Knots, Penalty
from calibration.fit.problem import Problem, by_tokens, groups_of
from calibration.fit.smooth import Smoothness
from calibration.fit.solve import ALL, Coefficient, Rows
from calibration.fit.source import Source, construct, kernels_of
from calibration.timings import Timings
from sim.cost.forms import gemm_s
from sim.hardware import GemmFit
from sim.precision import BYTES_PER_WEIGHT, Precision
from sim.records import FloatArray

SERVED_FIXED_S: Final = 4e-6
"""What a product pays inside a captured pass besides its work: kernels follow one another, and
activations are quantised by the kernel before. Isolated fp8 kernels show 8 to 16 µs."""
SMALLEST: Final = 512
"""N and K from which on errors are counted: smaller products are not what a pass is made of."""
LEAST: Final = 128
"""N and K from which on rows are fitted."""
TOKENS: Final = (
    *(1, 8, 16, 32, 64, 65, 96, 128, 129, 192, 256, 257, 512, 513, 768),
    *(1024, 1536, 2048, 3072, 4096, 8192, 32768),
)
"""Tiles of rows end at powers of two: one token more is a step."""
WIDTHS: Final = (128, 512, 1024, 2048, 4096, 8192, 16384, 65536)
PENALTY: Final = Penalty(
    pull=0.01,
    smooth={
        "tokens": Smoothness(0.15, order=1),
        "inner": Smoothness(0.15),
        "outer": Smoothness(0.15),
    },
    robust=0.1,
)
"""Single products that were timed badly hardly count. Chosen by cross-validation on shapes that
neither split holds out, of all timings and of 9 to 1,000 of them."""
KNOTS: Final[Knots] = {"tokens": TOKENS, "inner": WIDTHS, "outer": WIDTHS}
TIMES: Final = MappingProxyType({"fixed_s": 4e-6, "per_inner_s": 3e-10, "per_token_s": 1e-9})
QUANTISED: Final = frozenset({"fp8", "fp8_block", "nvfp4", "mxfp4", "int8"})


def gemm_problem(timings: Timings, precision: Precision, source: Source) -> Problem | None:
    """Return the products of one format; None without rows or without a peak."""
    peak, bandwidth = source.gpu.peak_flop_per_s(precision), source.bandwidth
    rows = timings.where(operation="gemm", precision=precision)
    rows = rows.keep((rows.number("outer") >= LEAST) & (rows.number("inner") >= LEAST))
    if peak is None or not len(rows):
        return None
    m, n, k = (rows.number(name) for name in ("tokens", "outer", "inner"))
    weight_bytes, input_bytes = BYTES_PER_WEIGHT[precision], _input_bytes(precision)

    def seconds(fit: GemmFit, some: Rows = ALL) -> FloatArray:
        found = gemm_s(
            fit,
            tokens=m[some],
            inner=k[some],
            outer=n[some],
            weight_bytes=weight_bytes,
            input_bytes=input_bytes,
            flop_per_s=peak,
            bytes_per_s=bandwidth,
            served=False,
        )
        return np.asarray(found)

    def make(values: Mapping[str, float]) -> GemmFit:
        served = min(SERVED_FIXED_S, values["fixed_s"])
        return construct(GemmFit, values, served_fixed_s=served)

    base, coordinates = source.base.gemm[precision], {"tokens": m, "inner": k, "outer": n}
    flop, moved = 2.0 * m * n * k, n * k * weight_bytes + m * (k * input_bytes + 2.0 * n)
    scored = (n >= SMALLEST) & (k >= SMALLEST)
    return Problem(
        part=f"gemm.{precision}",
        kernels=kernels_of(rows),
        measured_s=rows.number("latency_s"),
        floor_s=np.maximum(flop / peak, moved / bandwidth),
        groups=groups_of(n, k),
        coordinates=coordinates,
        flop=flop,
        bytes_moved=moved,
        coefficients=_coefficients(base, precision, source),
        form=lambda values, some: seconds(make(values), some),
        make=make,
        base_s=source.base_seconds(base, seconds, coordinates),
        scored=scored,
        regimes=by_tokens(m, scored),
        table=GridTable(KNOTS, coordinates, base.residual, PENALTY),
    )


def _input_bytes(precision: Precision) -> float:
    return 1.0 if precision == "fp8_block" else BYTES_PER_WEIGHT[precision]


def _coefficients(base: GemmFit, precision: Precision, source: Source) -> tuple[Coefficient, ...]:
    sigma = source.sigma
    form = (
        Coefficient("fixed_s", "time", base.fixed_s, sigma),
        Coefficient("flop_efficiency", "efficiency", base.flop_efficiency, sigma),
        Coefficient("bandwidth_efficiency", "efficiency", base.bandwidth_efficiency, sigma),
        Coefficient("p", "norm", base.p, sigma),
    )
    if precision not in QUANTISED:
        return form
    quantise = base.quantise_bandwidth_efficiency or 0.5
    return (
        *form,
        Coefficient("quantise_bandwidth_efficiency", "efficiency", quantise, sigma),
        Coefficient("per_inner_s", "time", base.per_inner_s or TIMES["per_inner_s"], sigma),
        Coefficient("per_token_s", "time", base.per_token_s or TIMES["per_token_s"], sigma),
    )
