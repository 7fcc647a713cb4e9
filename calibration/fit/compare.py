"""Kernel timings beside what a profile predicts for them, part by part; nothing is fitted."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.fit.collectives import collective_problem
from calibration.fit.decode import decode_problem
from calibration.fit.gemm import gemm_problem
from calibration.fit.prefill import prefill_problem
from calibration.fit.problem import Problem
from calibration.fit.source import Source
from calibration.timings import Timings
from sim.hardware import FittedProfile, GpuProfile
from sim.precision import PRECISIONS
from sim.records import FloatArray

COLLECTIVES: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")


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
    return tuple(_compared(problem) for problem in _problems(timings, source))


def _problems(timings: Timings, source: Source) -> Iterator[Problem]:
    found: list[Problem | None] = [gemm_problem(timings, each, source) for each in PRECISIONS]
    for kv in PRECISIONS:
        for latent in (False, True):
            found.append(decode_problem(timings, kv, source, latent=latent))
            found.append(prefill_problem(timings, kv, source, latent=latent))
    found += [collective_problem(timings, name, source) for name in COLLECTIVES]
    yield from (problem for problem in found if problem is not None)


def _compared(problem: Problem) -> ComparedPart:
    quantity = next(iter(problem.coordinates))
    return ComparedPart(
        problem.part,
        problem.measured_s,
        problem.base_s,
        quantity,
        problem.coordinates[quantity],
    )
