"""From kernel timings to a fitted profile, judged before it is written."""

from calibration.fit.document import to_document, to_profile, write_profile
from calibration.fit.fit import Result, fit_timings
from calibration.fit.judge import Accepted, Refused
from calibration.fit.report import report_page, write_report

__all__ = [
    "Accepted",
    "Refused",
    "Result",
    "fit_timings",
    "report_page",
    "to_document",
    "to_profile",
    "write_profile",
    "write_report",
]
