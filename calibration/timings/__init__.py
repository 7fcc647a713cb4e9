"""Kernel timings: the schema, the table, the file, and importers of public tables."""

from calibration.timings.files import read_timings, write_timings
from calibration.timings.schema import COLUMNS, OPERATIONS, SHAPES, VERSION
from calibration.timings.table import Timings, checked, from_columns

__all__ = [
    "COLUMNS",
    "OPERATIONS",
    "SHAPES",
    "VERSION",
    "Timings",
    "checked",
    "from_columns",
    "read_timings",
    "write_timings",
]
