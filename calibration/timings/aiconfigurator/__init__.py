"""Importer of the public kernel tables in the PyPI wheel `aiconfigurator-core` (Apache-2.0)."""

from calibration.timings.aiconfigurator.other_experts import OTHER_EXPERTS
from calibration.timings.aiconfigurator.tables import SOURCE, import_aiconfigurator
from calibration.timings.aiconfigurator.wheel import ENGINES, SYSTEMS, installed

__all__ = [
    "ENGINES",
    "OTHER_EXPERTS",
    "SOURCE",
    "SYSTEMS",
    "import_aiconfigurator",
    "installed",
]
