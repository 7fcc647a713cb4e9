"""How well a fit is known: what it was fitted on, where it holds, and how far off it was."""

from collections.abc import Mapping
from typing import Annotated

from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field

Share = Annotated[float, Ge(0), Field(allow_inf_nan=False)]


class Evidence(BaseModel):
    """Written by `paretoken calibrate fit`; a fit that was set by hand has none."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    kernels: str
    """Whose kernels, of which version."""
    points: Annotated[int, Ge(1)]
    """Timings behind the coefficients."""
    range: Mapping[str, tuple[float, float]]
    """Smallest and largest value of each quantity among them."""
    held_out: Mapping[str, Share]
    """Mean absolute error of shapes that a fit of the others had not seen, as a fraction: `all`,
    and by regime."""
    held_out_points: Annotated[int, Ge(0)] = 0
    held_out_spread: Share | None = None
    """Standard error of `all`, where few timings stand behind it: so far is the error known."""
    held_out_again: Share | None = None
    """The same under a second split of the shapes; looked at before the last changes to experts
    and collectives, at the end for all else."""
    form_alone: Share | None = None
    """The same without the table of residuals."""
    bias: float | None = None
    """Median of the signed errors of the held-out shapes."""
    standard_errors: Mapping[str, Share] = Field(default_factory=dict)
    """Of the coefficients, in their own units."""
    at_bound: tuple[str, ...] = ()
    """Coefficients that the data push against a bound."""
    base: str | None = None
    """Profile whose coefficients were the prior; None: the universal roofline."""
    note: str | None = None

    def outside(self, **quantities: float) -> tuple[str, ...]:
        """Return the quantities that lie beyond what was timed."""
        return tuple(
            name
            for name, value in quantities.items()
            if name in self.range and not self.range[name][0] <= value <= self.range[name][1]
        )
