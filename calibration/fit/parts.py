"""The parts of a profile, and how each becomes a problem: which rows, which form."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from calibration.fit.collectives import collective_problem
from calibration.fit.decode import decode_problem
from calibration.fit.experts import experts_problem
from calibration.fit.gemm import gemm_problem
from calibration.fit.prefill import prefill_problem
from calibration.fit.problem import Problem
from calibration.fit.source import Source
from calibration.timings import Timings
from sim.precision import PRECISIONS


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a profile, such as `gemm.bf16`."""

    name: str
    operation: str
    """Of the rows that it is made of."""
    build: Callable[[Timings], Problem | None]
    """Rows of one engine -> the problem; None without rows of this part."""


def parts(source: Source) -> Iterator[Part]:
    """Yield every part that a profile can have."""
    for precision in PRECISIONS:
        name = f"gemm.{precision}"
        yield Part(name, "gemm", partial(gemm_problem, precision=precision, source=source))
    for kv in PRECISIONS:
        for operation, build, latent in _ATTENTION:
            own = partial(build, kv=kv, source=source, latent=latent)
            yield Part(f"{operation}.{kv}", operation, own)
    for precision in PRECISIONS:
        name = f"experts.{precision}"
        yield Part(name, "experts", partial(experts_problem, precision=precision, source=source))
    for name in COLLECTIVES:
        yield Part(name, name, partial(collective_problem, name=name, source=source))


_ATTENTION: Final = (
    ("decode_attention", decode_problem, False),
    ("prefill_attention", prefill_problem, False),
    ("latent_attention", decode_problem, True),
    ("latent_prefill", prefill_problem, True),
)
COLLECTIVES: Final = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
