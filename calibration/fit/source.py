"""What a fit starts from: the GPU, the base profile, and how much the base is believed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np

from calibration.timings import Timings
from sim.cost.residuals import Grid
from sim.hardware import FittedProfile, GpuProfile
from sim.hardware.fitted import Fit
from sim.hardware.residual import Residual
from sim.records import FloatArray
from sim.units import MIB

F = TypeVar("F", bound=Fit)

UNKNOWN_L2_BYTES: Final = 126 * MIB
"""Where a profile does not tell the L2 cache, the largest that is known (B200)."""
SISTER_SIGMA: Final = 0.3
UNIVERSAL_SIGMA: Final = 0.7


@dataclass(frozen=True, slots=True)
class Source:
    """Facts behind every problem of one fit."""

    gpu: GpuProfile
    base: FittedProfile
    base_name: str | None
    """Name of the sister GPU's profile; None: the universal roofline."""

    @property
    def bandwidth(self) -> float:
        """Peak of the memory, B/s."""
        return self.gpu.memory_bandwidth_bytes_per_s.value

    @property
    def l2_bytes(self) -> float:
        """Size of the L2 cache, B."""
        known = self.gpu.l2_bytes
        return UNKNOWN_L2_BYTES if known is None else known.value

    @property
    def sigma(self) -> float:
        """How far coefficients may lie from the base's: a sister GPU is believed more."""
        return UNIVERSAL_SIGMA if self.base_name is None else SISTER_SIGMA

    def base_seconds(
        self, fit: F, seconds: Callable[[F], FloatArray], coordinates: Mapping[str, FloatArray]
    ) -> FloatArray:
        """Return what the base's fit, table included, predicts on this GPU."""
        residual: Any = getattr(fit, "residual", None)
        found = seconds(fit)
        if isinstance(residual, Residual) and {a.of for a in residual.axes} <= set(coordinates):
            grid = Grid.of(residual)
            ratio = grid.log_ratio(**{name: coordinates[name] for name in grid.names})
            return np.asarray(found * np.exp(ratio))
        return found


def construct(kind: type[F], values: Mapping[str, Any], **more: Any) -> F:  # noqa: ANN401
    """Return a fit without checking it: the search stays in bounds by itself."""
    made: Any = kind.model_construct
    found: F = made(**values, **more)
    return found


def usual_kernels(rows: Timings) -> Timings:
    """Return, for each head width, the rows of the kernel that most of them time.

    Tables hold what an engine falls back on beside what it uses; only the latter is fitted.
    """
    names = np.array(rows.table["kernel"].to_pylist(), dtype=object)
    widths, kept = rows.number("head_dim"), np.zeros(len(rows), dtype=bool)
    for width in np.unique(widths):
        mine = widths == width
        found, counts = np.unique(names[mine].astype(str), return_counts=True)
        kept |= mine & (names.astype(str) == found[int(np.argmax(counts))])
    return rows.keep(kept)


def kernels_of(timings: Timings) -> str:
    """Return whose kernels some rows time, with versions and names."""
    engines, versions = timings.texts("engine"), timings.texts("engine_version")
    names = timings.texts("kernel")
    said = f"{', '.join(engines)} {', '.join(versions)}"
    return f"{said}: {', '.join(names[:3])}" if names else said
