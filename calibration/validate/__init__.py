"""Predict measured serving runs and say by how much the predictions are off."""

from calibration.validate.errors import ErrorStats, GroupErrors
from calibration.validate.files import write_files
from calibration.validate.recipes import Settings
from calibration.validate.replay import Prediction, Refusal
from calibration.validate.runs import MeasuredRun, read_runs
from calibration.validate.tables import ErrorTable, error_tables
from calibration.validate.validation import Compared, Validation, validate_file

__all__ = [
    "Compared",
    "ErrorStats",
    "ErrorTable",
    "GroupErrors",
    "MeasuredRun",
    "Prediction",
    "Refusal",
    "Settings",
    "Validation",
    "error_tables",
    "read_runs",
    "validate_file",
    "write_files",
]
