"""Two roofs over intensity: the datasheet's, and what the fitted kernels reach."""

from dataclasses import dataclass

from sim.hardware import FittedProfile, GpuProfile
from sim.precision import Precision


@dataclass(frozen=True, slots=True)
class Roof:
    """Peaks and what a large operation reaches of them."""

    peak_flop_per_s: float
    peak_bytes_per_s: float
    flop_per_s: float
    bytes_per_s: float
    p: float

    @property
    def ridge_flop_per_byte(self) -> float:
        """Where the fitted roof bends."""
        return self.flop_per_s / self.bytes_per_s

    def datasheet(self, intensity: float) -> float:
        """FLOP/s at an intensity, on peaks alone."""
        return min(self.peak_flop_per_s, self.peak_bytes_per_s * intensity)

    def fitted(self, intensity: float) -> float:
        """FLOP/s at an intensity with the fitted losses and the fitted sharpness of the bend."""
        slow = max(self.flop_per_s, self.bytes_per_s * intensity)
        fast = min(self.flop_per_s, self.bytes_per_s * intensity)
        return float(fast / (1 + (fast / slow) ** self.p) ** (1 / self.p))


def roof_of(gpu: GpuProfile, fitted: FittedProfile, precision: Precision) -> Roof:
    """Return the roofs of matrix products in one precision."""
    peak = gpu.peak_flop_per_s(precision) or gpu.bf16_dense_flop_per_s.value
    bandwidth, fit = gpu.memory_bandwidth_bytes_per_s.value, fitted.gemm[precision]
    return Roof(
        peak, bandwidth, fit.flop_efficiency * peak, fit.bandwidth_efficiency * bandwidth, fit.p
    )
