"""GPUs, what their kernels reach, and what engines add. Start with `profile`, then `load`."""

from sim.hardware.engine import EngineProfile
from sim.hardware.fitted import (
    AllReduceFit,
    DecodeAttentionFit,
    FittedProfile,
    GemmFit,
    PrefillAttentionFit,
)
from sim.hardware.load import (
    list_engines,
    list_gpus,
    load_engine,
    load_fitted,
    load_fitted_file,
    load_gpu,
)
from sim.hardware.profile import GpuProfile, Precision, Sourced

__all__ = [
    "AllReduceFit",
    "DecodeAttentionFit",
    "EngineProfile",
    "FittedProfile",
    "GemmFit",
    "GpuProfile",
    "Precision",
    "PrefillAttentionFit",
    "Sourced",
    "list_engines",
    "list_gpus",
    "load_engine",
    "load_fitted",
    "load_fitted_file",
    "load_gpu",
]
