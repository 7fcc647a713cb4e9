"""From timings to the fits of one GPU and engine: which rows, in which order, what came out."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from calibration.fit.judge import Accepted, Refused, judge
from calibration.fit.parts import Part, parts
from calibration.fit.source import Source
from calibration.timings import Timings
from calibration.timings.aiconfigurator import OTHER_EXPERTS
from sim.errors import InputError
from sim.hardware import FittedProfile, GpuProfile, load_universal

ENGINES: Final = ("vllm", "sglang", "trtllm")
STAND_INS: Final = MappingProxyType(
    {
        "vllm": ("sglang", "trtllm", "nccl"),
        "sglang": ("vllm", "trtllm", "nccl"),
        "trtllm": ("vllm", "sglang", "nccl"),
    }
)
"""Whose kernels stand in where an engine has no usable rows, in order."""
LATENT_PREFILL: Final = ("trtllm", "sglang")
"""Whose rows of prompts over a latent stand in, in order: none of them absorbs the projections."""
ABSORBED: Final = frozenset({"flash_attention", "triton"})
"""Kernels whose rows of such prompts time the absorbed form, over latents three times as wide.

No engine serves prompts so: the wheel's rows of SGLang's whole module (fa3, 16 heads, 8,192
tokens, H200: 1.18 ms with its projections) are shorter than those of the kernel alone (1.99 ms).
"""

Judged = dict[tuple[str, str], Accepted | Refused | None]
"""By engine and part: what its rows gave; None where it has none."""


@dataclass(frozen=True, slots=True)
class Result:
    """All parts of one fit."""

    gpu: GpuProfile
    engine: str
    base_name: str | None
    origin: str
    sources: tuple[str, ...]
    accepted: tuple[Accepted, ...]
    refused: tuple[Refused, ...]

    @property
    def refusals(self) -> tuple[str, ...]:
        """What was refused, why, and whether another engine's kernels stand in."""
        fitted = {each.part for each in self.accepted}
        return tuple(
            f"{each.part} on the rows of another engine, since of its own {each.reason}"
            if each.part in fitted
            else f"{each.part} not fitted: {each.reason}"
            for each in self.refused
        )


def fit_timings(
    timings: Timings,
    gpu: GpuProfile,
    *,
    engine: str | None = None,
    base: FittedProfile | None = None,
    base_name: str | None = None,
    judged: Judged | None = None,
) -> Result:
    """Fit every kernel that the timings of a GPU hold; raise `InputError` if none can be.

    `judged` remembers what rows gave, for another engine of the same timings and base for which
    they stand in.
    """
    mine = timings.where(gpu=gpu.name)
    if not len(mine):
        found = ", ".join(timings.texts("gpu"))
        raise InputError(
            f"no timings of {gpu.name}: they are of {found}",
            where="--gpu",
            remedy="where it is the same GPU, name it as --gpu of `calibrate import csv`",
        )
    engine = _engine(mine, engine)
    source = Source(gpu, load_universal() if base is None else base, base_name)
    accepted: list[Accepted] = []
    refused: list[Refused] = []
    remembered = {} if judged is None else judged
    for candidates in _candidates(mine, engine, source, remembered):
        for outcome in candidates:
            if isinstance(outcome, Accepted):
                accepted.append(outcome)
                break
            refused.append(outcome)
    if not accepted:
        reasons = "; ".join(f"{each.part}: {each.reason}" for each in refused[:3])
        none = f"nothing to fit: no timing of {', '.join(mine.texts('operation'))} can be used"
        problem = f"nothing could be fitted ({reasons})" if reasons else none
        raise InputError(problem, where=gpu.name)
    own = engine not in {*ENGINES, *OTHER_EXPERTS}
    sources = sorted({_wheel(text) for text in mine.texts("source")})
    return Result(
        gpu,
        engine,
        base_name,
        "measured" if own else "calibrated",
        tuple(sources),
        tuple(accepted),
        tuple(refused),
    )


def _wheel(source: str) -> str:
    """Return a source without the names of single tables."""
    return source.partition(",")[0]


def _engine(timings: Timings, asked: str | None) -> str:
    found = [name for name in timings.texts("engine") if name != "nccl"]
    if asked is not None:
        if asked not in found:
            raise InputError(
                f"no kernels of {asked} in these timings, only of {', '.join(found) or 'nccl'}",
                where="--engine",
            )
        return asked
    if not found:
        raise InputError("the timings are of NCCL's collectives only: no kernels of an engine")
    if len(found) != 1:
        raise InputError(
            f"the timings are of several engines: {', '.join(found)}",
            where="--engine",
            remedy="name one",
        )
    return found[0]


def _candidates(
    timings: Timings, engine: str, source: Source, judged: Judged
) -> Iterator[Iterator[Accepted | Refused]]:
    """Yield, for each part, what the engine's own rows give, then those that stand in."""
    pools: dict[tuple[str, str], Timings] = {}
    for name in timings.texts("engine"):
        mine = timings.where(engine=name)
        pools.update(
            {
                (name, operation): mine.where(operation=operation)
                for operation in mine.texts("operation")
            }
        )
    for part in parts(source):
        order = (engine, *STAND_INS.get(engine, ("nccl",)))
        if part.operation == "latent_prefill":
            order = (engine, *(name for name in LATENT_PREFILL if name != engine))
            pools |= {
                (name, part.operation): _served(pools[name, part.operation])
                for name in order
                if (name, part.operation) in pools
            }
        engines = [name for name in order if (name, part.operation) in pools]
        yield _outcomes(part, engines, pools, source, judged)


def _served(latent: Timings) -> Timings:
    """Return rows of prompts over a latent without those of absorbed kernels."""
    names = latent.table["kernel"].to_pylist()
    return latent.keep(np.array([name not in ABSORBED for name in names], dtype=bool))


def _outcomes(
    part: Part,
    engines: Sequence[str],
    pools: Mapping[tuple[str, str], Timings],
    source: Source,
    judged: Judged,
) -> Iterator[Accepted | Refused]:
    """Yield what the rows of some engines give for one part, in their order."""
    for name in engines:
        key = name, part.name
        if key not in judged:
            problem = part.build(pools[name, part.operation])
            judged[key] = None if problem is None else judge(problem, source.base_name)
        outcome = judged[key]
        if outcome is not None:
            yield outcome
