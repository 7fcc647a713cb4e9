"""GPUs, what their kernels reach, and what engines add. Start with `profile`, then `load`."""

from sim.hardware.engine import EngineProfile
from sim.hardware.engine_options import EngineOptions
from sim.hardware.fitted import (
    AllReduceFit,
    CollectiveFit,
    Collectives,
    DecodeAttentionFit,
    ExpertsFit,
    FittedProfile,
    GemmFit,
    Origin,
    PrefillAttentionFit,
)
from sim.hardware.load import (
    list_engines,
    list_gpus,
    load_engine,
    load_engine_file,
    load_fitted,
    load_fitted_file,
    load_fitted_named,
    load_gpu,
    load_universal,
)
from sim.hardware.profile import GpuProfile, LinkKind, Precision, Sourced

__all__ = [
    "AllReduceFit",
    "CollectiveFit",
    "Collectives",
    "DecodeAttentionFit",
    "EngineOptions",
    "EngineProfile",
    "ExpertsFit",
    "FittedProfile",
    "GemmFit",
    "GpuProfile",
    "LinkKind",
    "Origin",
    "Precision",
    "PrefillAttentionFit",
    "Sourced",
    "list_engines",
    "list_gpus",
    "load_engine",
    "load_engine_file",
    "load_fitted",
    "load_fitted_file",
    "load_fitted_named",
    "load_gpu",
    "load_universal",
]
