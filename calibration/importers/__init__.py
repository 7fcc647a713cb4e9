"""Result files of serving benchmarks, one module a tool; `read_benchmark` is the door."""

from calibration.importers.formats import FORMATS, is_table, read_benchmark, unknown_format
from calibration.importers.record import FIGURES, Benchmark, Lengths, Read, Served, Unusable

__all__ = [
    "FIGURES",
    "FORMATS",
    "Benchmark",
    "Lengths",
    "Read",
    "Served",
    "Unusable",
    "is_table",
    "read_benchmark",
    "unknown_format",
]
