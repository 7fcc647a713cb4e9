"""How far the times of a fitted profile may be off, as one shared error of their logarithm."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
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


def log_error(error: Mapping[str, float | None]) -> LogError | None:
    """Return the shared log error that a profile's held-out errors stand for; `None`: none given.

    `log_sigma` is taken as it is. Else the error of a token's time in serving (`tpot_median_ape`,
    `tpot_mean_ape`), else the largest `..._median_ape` of its kernels, as if all erred together.
    Absolute percentage errors become sigmas under a normal law: ln(1 + median) / 0.674,
    ln(1 + mean) / 0.798.
    """
    known = {name: value for name, value in error.items() if value is not None and value > 0}
    if "log_sigma" in known:
        return LogError(known["log_sigma"], f"log_sigma {known['log_sigma']:.3f}")
    serving = [name for name in ("tpot_median_ape", "tpot_mean_ape") if name in known]
    kernels = sorted(
        (name for name in known if name.endswith("_median_ape")), key=lambda name: -known[name]
    )
    for name in [*serving, *kernels][:1]:
        divisor = MEAN_OF_NORMAL if name.endswith("_mean_ape") else MEDIAN_OF_NORMAL
        return LogError(log(1 + known[name]) / divisor, f"{name} {known[name]:.1%}")
    return None
