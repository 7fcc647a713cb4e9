"""Predict what the result files of serving benchmarks hold, figure by figure."""

from calibration.benchmarks.output import benchmark_tables, write_benchmark_files
from calibration.benchmarks.reading import is_benchmark, read_file
from calibration.benchmarks.result import BenchmarkValidation, Beside, Driven
from calibration.benchmarks.validation import predict, refuse_scenario, validate_benchmark

__all__ = [
    "BenchmarkValidation",
    "Beside",
    "Driven",
    "benchmark_tables",
    "is_benchmark",
    "predict",
    "read_file",
    "refuse_scenario",
    "validate_benchmark",
    "write_benchmark_files",
]
