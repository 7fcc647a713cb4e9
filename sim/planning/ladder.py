"""The frontier at a ladder of user speeds: what each strategy gives, and which one wins."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from typing import Final

from sim.planning.curve import Best

SPEEDS: Final = (5.0, 10.0, 20.0, 30.0, 50.0, 75.0, 100.0, 150.0, 200.0, 300.0, 500.0, 1000.0)
"""User speeds at which a frontier is read, tokens/s."""
TIE: Final = 0.03
"""A lead below this is called a tie however long the runs are."""
_GRID: Final = 0.01
"""Steps in which regions are told apart."""


@dataclass(frozen=True, slots=True)
class Rung:
    """All strategies at one user speed; `None` where a strategy is not that fast."""

    user_tokens_per_s: float
    output_tokens_per_s_per_gpu: Mapping[str, float | None]
    output_tokens_per_usd: Mapping[str, float | None]
    tensor_parallel: Mapping[str, int | None]
    """The width that gives the most."""
    ratio: Mapping[str, float | None]
    """R(u): throughput per GPU over the baseline's, where both get there."""
    winner: str | None
    """The most per GPU (at one price per GPU-hour also the most per USD); `None`: nobody."""
    tied: tuple[str, ...]
    """Strategies that are behind the winner by less than the noise."""


@dataclass(frozen=True, slots=True)
class Region:
    """A range of user speeds in which one strategy gives the most, tokens/s."""

    winner: str
    low: float
    """Up from here; 0 for the first region, below which nothing changes."""
    high: float


def winning_regions(bests: Mapping[str, Best]) -> tuple[Region, ...]:
    """Return who gives the most per GPU at which speeds, slow to fast, to within 1 %."""
    fastest = [best.fastest for best in bests.values() if best.fastest]
    slowest = [best.slowest for best in bests.values() if best.slowest]
    if not fastest:
        return ()
    low, high = min(slowest), max(fastest)
    steps = max(1, ceil(log(high / low) / log(1 + _GRID)))
    regions: list[Region] = []
    before = 0.0
    for step in range(steps + 1):
        speed = high if step == steps else low * (high / low) ** (step / steps)
        winner = _winner({name: best.at(speed) for name, best in bests.items()})
        if winner is None:  # pragma: no cover - the fastest one reaches every speed of the grid
            continue
        if regions and regions[-1].winner == winner:
            regions[-1] = replace(regions[-1], high=speed)
        else:
            regions.append(Region(winner, before, speed))
        before = speed
    return tuple(regions)


def tie_band(requests: int) -> float:
    """Return the lead that is within the noise of one run of so many requests a point.

    A count of n completions with gaps as irregular as those of a Poisson process has a standard
    deviation of 1 / sqrt(n) of itself; those of a full batch are more regular, and two strategies
    serve the same requests, so this is more than one standard deviation of their ratio.

    >>> [round(tie_band(n), 3) for n in (300, 1000, 5000)]
    [0.058, 0.032, 0.03]
    """
    return max(TIE, 1.0 / sqrt(requests))


def read_ladder(
    bests: Mapping[str, Best],
    baseline: str,
    speeds: Sequence[float] | None = None,
    *,
    tie: float = TIE,
) -> tuple[Rung, ...]:
    """Read every strategy at every speed; without `speeds`, at those of `SPEEDS` that matter.

    `tie` is the lead below which strategies share a rung.
    """
    if speeds is None:
        speeds = _trimmed(bests)
    return tuple(_rung(bests, baseline, speed, tie) for speed in speeds)


def _trimmed(bests: Mapping[str, Best]) -> list[float]:
    """Leave out what nobody reaches, and all but the highest speed that everybody exceeds."""
    fastest = max((best.fastest or 0.0 for best in bests.values()), default=0.0)
    slowest = min((best.slowest for best in bests.values() if best.slowest), default=0.0)
    reached = [speed for speed in SPEEDS if speed <= fastest]
    level = [speed for speed in reached if speed <= slowest]
    return reached[max(0, len(level) - 1) :]


def _rung(bests: Mapping[str, Best], baseline: str, speed: float, tie: float) -> Rung:
    per_gpu = {name: best.at(speed) for name, best in bests.items()}
    reached = {name: value for name, value in per_gpu.items() if value is not None}
    winner = _winner(per_gpu)
    base = per_gpu.get(baseline)
    return Rung(
        user_tokens_per_s=speed,
        output_tokens_per_s_per_gpu=per_gpu,
        output_tokens_per_usd={name: best.per_usd_at(speed) for name, best in bests.items()},
        tensor_parallel={name: best.tensor_parallel_at(speed) for name, best in bests.items()},
        ratio={
            name: None if value is None or base is None else value / base
            for name, value in per_gpu.items()
        },
        winner=winner,
        tied=tuple(
            name
            for name, value in reached.items()
            if winner is not None and name != winner and value > (1 - tie) * reached[winner]
        ),
    )


def _winner(values: Mapping[str, float | None]) -> str | None:
    """Return the name of the largest value; among equals the first one."""
    reached = {name: value for name, value in values.items() if value is not None}
    return max(reached, key=reached.__getitem__, default=None)
