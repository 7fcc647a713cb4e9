"""How far the times of a fitted profile may be off, as one shared error of their logarithm."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import log
from statistics import fmean
from typing import Final

MEDIAN_OF_NORMAL: Final = 0.67449
"""Median of |x| of a standard normal law: the 75 % quantile."""
MEAN_OF_NORMAL: Final = 0.79788
"""Mean of |x|: sqrt(2 / pi)."""


@dataclass(frozen=True, slots=True)
class LogError:
    """Standard deviation of ln(true time / predicted time), shared by all times of a run."""

    sigma: float
    basis: str
    """The figure of the profile that it was made from."""


SERVING: Final = {
    "tpot_left_out_mean_ape": MEAN_OF_NORMAL,
    "tpot_median_ape": MEDIAN_OF_NORMAL,
    "tpot_mean_ape": MEAN_OF_NORMAL,
}
"""Errors of a token's time in serving, and what the error of a normal law with sigma 1 is: first
that on models that were left out of the fit."""


def log_error(
    error: Mapping[str, float | None], used: Iterable[str] = (), own: Collection[str] = ()
) -> LogError | None:
    """Return the shared log error that a profile's held-out errors stand for; `None`: none given.

    `log_sigma` is taken as it is. Else the error of a token's time in serving, else the average of
    the mean absolute errors of the kernels that a run uses (`used`: `gemm.fp8` and the like), as
    if all erred together. Absolute errors become sigmas under a normal law: ln(1 + median) /
    0.674, ln(1 + mean) / 0.798. Where some of `used` are a fit of the user's own (`own`), of which
    no serving run speaks, the larger of both counts.
    """
    known = {name: value for name, value in error.items() if value is not None and value > 0}
    if "log_sigma" in known:
        return LogError(known["log_sigma"], f"log_sigma {known['log_sigma']:.3f}")
    parts = [name for name in used if name in known]
    kernels = _of_kernels({name: known[name] for name in parts})
    for name, divisor in SERVING.items():
        if name in known:
            serving = LogError(log(1 + known[name]) / divisor, f"{name} {known[name]:.1%}")
            if kernels is None or not set(own).intersection(parts):
                return serving
            return max(serving, kernels, key=lambda one: one.sigma)
    return kernels


def _of_kernels(errors: Mapping[str, float]) -> LogError | None:
    if not errors:
        return None
    mean = fmean(errors.values())
    said = ", ".join(f"{name} {error:.1%}" for name, error in errors.items())
    return LogError(log(1 + mean) / MEAN_OF_NORMAL, f"held-out error {mean:.1%}: mean of {said}")
