"""Errors of predictions against measurements, over all rows and by group."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np


@dataclass(frozen=True, slots=True)
class ErrorStats:
    """Relative errors of one quantity, (predicted - measured) / measured, as fractions."""

    n: int
    mean_ape: float | None
    """Mean absolute error; None over no rows."""
    median_ape: float | None
    p90_ape: float | None
    """90th percentile of the absolute errors, linear between order statistics."""
    median_bias: float | None
    """Median of the signed errors: above 0 the predictions are too slow."""

    def to_json(self) -> dict[str, float | int | None]:
        """Return the figures by name."""
        return {
            "n": self.n,
            "mean_ape": self.mean_ape,
            "median_ape": self.median_ape,
            "p90_ape": self.p90_ape,
            "median_bias": self.median_bias,
        }


@dataclass(frozen=True, slots=True)
class GroupErrors:
    """Errors of TPOT and TTFT over the same rows."""

    tpot: ErrorStats
    ttft: ErrorStats

    def to_json(self) -> dict[str, dict[str, float | int | None]]:
        """Return both by name."""
        return {"tpot": self.tpot.to_json(), "ttft": self.ttft.to_json()}


def relative_error(predicted: float, measured: float) -> float:
    """Return (predicted - measured) / measured."""
    return (predicted - measured) / measured


def error_stats(errors: Iterable[float | None]) -> ErrorStats:
    """Summarise relative errors; None (a row without the quantity) does not count.

    >>> error_stats([0.1, -0.3, None]).mean_ape
    0.2
    """
    signed = [error for error in errors if error is not None]
    if not signed:
        return ErrorStats(0, None, None, None, None)
    sizes = np.abs(signed)
    return ErrorStats(
        n=len(signed),
        mean_ape=fmean(sizes),
        median_ape=float(np.median(sizes)),
        p90_ape=float(np.quantile(sizes, 0.9)),
        median_bias=float(np.median(signed)),
    )


CONCURRENCY_BANDS: Sequence[tuple[str, int]] = (("1-8", 8), ("9-32", 32), ("33-128", 128))
"""Name and largest number of users of each band; beyond the last comes `129+`."""


def concurrency_band(users: int) -> str:
    """Return the name of the band that a number of concurrent users falls in.

    >>> concurrency_band(32), concurrency_band(33), concurrency_band(512)
    ('9-32', '33-128', '129+')
    """
    return next((name for name, most in CONCURRENCY_BANDS if users <= most), "129+")
