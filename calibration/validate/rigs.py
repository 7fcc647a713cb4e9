"""Who drove a run, which the table does not say: what a suite sweeps tells."""

from math import floor
from typing import Final

from calibration.validate.runs import MeasuredRun

SWEPT: Final = frozenset({(1024, 1024), (1024, 8192), (8192, 1024)})
"""Prompt and answer lengths that InferenceX (InferenceMAX) sweeps; it has no others."""
SPREAD: Final = 0.2
"""Lengths are uniform over so much of the nominal one (`--random-range-ratio 0.8`)."""


def of_inferencex(run: MeasuredRun) -> bool:
    """Whether a run is of that suite, by its lengths."""
    return (run.input_tokens, run.output_tokens) in SWEPT


def lengths_of(run: MeasuredRun, nominal: int) -> dict[str, object]:
    """Return the lengths that a nominal one stands for.

    InferenceX's nominal length is the longest (`--random-range-ratio` 0.8). Other suites drive
    genai-perf or AIPerf, whose `--isl` and `--osl` are means; how far lengths spread about them is
    not known, and taken to be as far as there.
    """
    high = nominal if of_inferencex(run) else nominal * (1 + SPREAD / 2)
    low = high - SPREAD * nominal
    return {"kind": "uniform", "low": max(1, floor(low)), "high": floor(high)}
