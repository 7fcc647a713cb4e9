"""What a request passes through outside the engine (scenario key `pipeline`)."""

from typing import Annotated

from annotated_types import Ge
from pydantic import BaseModel, ConfigDict, Field

from sim.units import MS_PER_S

Milliseconds = Annotated[float, Ge(0), Field(allow_inf_nan=False)]


class Pipeline(BaseModel):
    """Constant stage times around the engine. All are assumed: edit them to what you know."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    network_rtt_ms: Milliseconds = 0.0
    """Round trip between user and gateway; half before the engine, half after."""
    gateway_ms: Milliseconds = 0.0
    tokenise_ms: Milliseconds = 0.0
    detokenise_ms: Milliseconds = 0.0
    """Time from a token to the text that leaves for the user."""

    @property
    def before_s(self) -> float:
        """Time from the user's click to the engine, s."""
        return (self.network_rtt_ms / 2 + self.gateway_ms + self.tokenise_ms) / MS_PER_S

    @property
    def after_s(self) -> float:
        """Time from a token in the engine to the user's screen, s."""
        return (self.detokenise_ms + self.network_rtt_ms / 2) / MS_PER_S

    @property
    def total_s(self) -> float:
        """What the pipeline adds to TTFT and to TTLT, s."""
        return self.before_s + self.after_s
