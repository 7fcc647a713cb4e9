"""Kernel timings beside what a profile predicts for them, part by part; nothing is fitted."""

from dataclasses import dataclass

import numpy as np

from calibration.fit.parts import parts
from calibration.fit.problem import Problem
from calibration.fit.source import Source
from calibration.timings import Timings
from sim.hardware import FittedProfile, GpuProfile
from sim.records import FloatArray


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """The kernels of one part of a profile, such as `gemm.bf16`."""

    part: str
    measured_s: FloatArray
    predicted_s: FloatArray
    quantity: str
    """What `at` counts: tokens, items, bytes."""
    at: FloatArray

    @property
    def errors(self) -> FloatArray:
        """(predicted - measured) / measured."""
        found: FloatArray = self.predicted_s / self.measured_s - 1
        return found

    @property
    def mape(self) -> float:
        """Mean absolute error, a fraction."""
        return float(np.abs(self.errors).mean())


def compare_timings(
    timings: Timings, gpu: GpuProfile, profile: FittedProfile
) -> tuple[ComparedPart, ...]:
    """Return measured and predicted times of every part that the timings of a GPU hold."""
    source = Source(gpu, profile, None)
    found = (part.build(timings) for part in parts(source))
    return tuple(_compared(problem) for problem in found if problem is not None)


def _compared(problem: Problem) -> ComparedPart:
    quantity = next(iter(problem.coordinates))
    return ComparedPart(
        problem.part,
        problem.measured_s,
        problem.base_s,
        quantity,
        problem.coordinates[quantity],
    )
