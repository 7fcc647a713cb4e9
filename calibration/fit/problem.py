"""One kernel family to fit: its rows, its form, and what a good answer is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from calibration.fit.solve import Coefficient, Form
from sim.hardware.fitted import Fit
from sim.hardware.residual import ExpertShapes, Residual
from sim.records import FloatArray

Mask = NDArray[np.bool_]
FEWEST: Final = 4
"""Timings below which a fit would be the prior and nothing else."""


Residuals = Residual | ExpertShapes


class Table(Protocol):
    """A way to tabulate what a form misses."""

    @property
    def has_prior(self) -> bool:
        """Whether it starts from a sister's table, so that few rows suffice."""
        ...

    def prior_log_ratio(self) -> FloatArray:
        """Return log(measured / form) of all rows by the sister's table; 0 without one."""
        ...

    def fit(self, log_errors: FloatArray, rows: Mask) -> Residuals:
        """Return the table that explains the errors of some rows."""
        ...

    def log_ratio(self, table: Residuals) -> FloatArray:
        """Return log(measured / form) of all rows by a table."""
        ...


@dataclass(frozen=True, slots=True)
class Problem:
    """Rows of one operation and precision, ready to be fitted."""

    part: str
    """Dotted name in a fitted profile, such as `gemm.bf16`."""
    kernels: str
    measured_s: FloatArray
    floor_s: FloatArray
    """No kernel can be quicker on this GPU: FLOP / peak, bytes / bandwidth."""
    groups: NDArray[np.intp]
    """Rows of one shape: held out together."""
    coordinates: Mapping[str, FloatArray]
    """What the tables run over, and whose range is told."""
    flop: FloatArray
    bytes_moved: FloatArray
    coefficients: tuple[Coefficient, ...]
    form: Form
    make: Callable[[Mapping[str, float]], Fit]
    """Coefficients -> fit, without a table."""
    base_s: FloatArray
    """What the base profile predicts for these rows on this GPU."""
    scored: Mask
    """Rows that count for the error."""
    regimes: Mapping[str, Mask] = field(default_factory=dict)
    table: Table | None = None
    """None: the form alone."""
    table_fewest: int = 40
    """Timings below which there is no table, unless a sister lends hers."""
    certain_from: int = 130
    """Timings below which the held-out error is itself uncertain, and is told with its own: a
    third of fewer would be less than 40."""
    left_out: str | None = None
    """Which timings of this part were not used, and why, where that leaves few."""
    note: str | None = None
    certain_floor_s: FloatArray | None = None
    """The floor by which rows are judged, where `floor_s` counts bytes that caches may hold."""

    def __len__(self) -> int:
        return len(self.measured_s)


def by_tokens(tokens: FloatArray, scored: Mask) -> dict[str, Mask]:
    """Return the regimes of few, some and many tokens."""
    return {
        "1 to 64 tokens": scored & (tokens <= 64),
        "65 to 1024 tokens": scored & (tokens > 64) & (tokens <= 1024),
        "over 1024 tokens": scored & (tokens > 1024),
    }


def groups_of(*columns: FloatArray) -> NDArray[np.intp]:
    """Return a number for each row: the same where all columns are."""
    stacked = np.stack(columns, axis=1)
    _, numbers = np.unique(stacked, axis=0, return_inverse=True)
    found: NDArray[np.intp] = np.asarray(numbers).ravel()
    return found
