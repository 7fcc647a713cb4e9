"""What a scenario says of its cold start (key `cold_start`)."""

from typing import Annotated

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field

from sim.cold_start.assumptions import Loader

Seconds = Annotated[float, Ge(0), Le(86_400), Field(allow_inf_nan=False)] | None
Rate = Annotated[float, Gt(0), Le(10_000), Field(allow_inf_nan=False)] | None
Size = Annotated[float, Ge(0), Le(1_000), Field(allow_inf_nan=False)] | None


class ColdStart(BaseModel):
    """A set of assumptions by name, and what is known better: `None` keeps the assumption."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    assumptions: str = "generic"
    """Name in `hardware_profiles/cold_start/`, or path of a file of your own."""
    loader: Loader = "safetensors"
    """How the engine reads weights: its default, a streamer, tensorizer, or from memory."""
    provision_s: Seconds = None
    """From asking for a machine until it runs, s."""
    image_gb: Size = None
    """Compressed container image, GB."""
    image_gb_per_s: Rate = None
    """Pulling and unpacking the image, GB/s."""
    storage_gb_per_s: Rate = None
    """What storage gives one machine, GB/s."""
    loader_gb_per_s: Rate = None
    """What the loader takes at most, GB/s."""
    engine_init_s: Seconds = None
    """Start of the engine without compiler and graphs, s."""
    compile_s: Seconds = None
    """Compiler, s; 0: switched off, or its result is kept."""
    graph_capture_s: Seconds = None
    """Capture of CUDA graphs, s."""
    warm_up_s: Seconds = None
    """First passes before anybody is let in, s."""
