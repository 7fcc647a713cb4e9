"""What fits of a part of the timings predict for the others, and how well that is known."""

from dataclasses import dataclass

import numpy as np

from calibration.fit.problem import Mask
from sim.records import FloatArray


@dataclass(frozen=True, slots=True)
class Unseen:
    """What fits of a part of the shapes predict for the others; NaN where none was asked."""

    predicted_s: FloatArray
    form_alone_s: FloatArray
    tested: Mask
    """Rows that were predicted unseen, and count."""
    shared: float = 0.0
    """Splits times rows held out by rows fitted: 0.43 for one of 30 %, 1.5 for each third."""

    def error(self, measured_s: FloatArray) -> float:
        """Mean absolute error of the rows that count."""
        return rounded(float(self._sizes(measured_s).mean()))

    def spread(self, measured_s: FloatArray) -> float:
        """Standard error of that mean.

        Few errors seldom hold the rare large ones: they are taken to spread as widely as if they
        were exponentially distributed, at least. Fits of other timings as few would have erred
        otherwise as a whole, which the errors of one draw do not show: their variance is
        1 + `shared` times as large (Nadeau and Bengio 2003).
        """
        sizes = self._sizes(measured_s)
        spread = max(sizes.std(ddof=min(1, len(sizes) - 1)), sizes.mean())
        return rounded(float(spread * np.sqrt((1.0 + self.shared) / len(sizes))))

    def _sizes(self, measured_s: FloatArray) -> FloatArray:
        sizes: FloatArray = np.abs(self.predicted_s / measured_s - 1.0)[self.tested]
        return sizes


def rounded(share: float) -> float:
    """Return a fraction to a hundredth of a per cent."""
    return round(share, 4)
