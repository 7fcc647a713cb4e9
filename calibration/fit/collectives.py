"""Collectives: latency, a time per further rank, bytes over the link; and a table of sizes."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from calibration.fit.grid import GridTable, Penalty
from calibration.fit.problem import Problem, groups_of
from calibration.fit.smooth import Smoothness
from calibration.fit.solve import ALL, Coefficient, Rows
from calibration.fit.source import Source, construct, kernels_of
from calibration.timings import Timings
from sim.cost.collectives import collective_s
from sim.hardware.fitted import CollectiveFit
from sim.records import FloatArray

LARGEST_BYTES: Final = 2.0**28
"""256 MiB: more than a pass ever sums up."""
SMALLEST_BYTES: Final = 1024.0
SIZES: Final = tuple(2.0**octave for octave in range(10, 29))
"""Each octave: libraries change algorithm, protocol and kernel from one to the next."""
TABLE_FEWEST: Final = 20
"""Timings that make a table: there is one to a knot, and little noise."""
PENALTY: Final = Penalty(
    pull=0.01,
    smooth={"bytes": Smoothness(0.3), "ranks": Smoothness(0.03, order=1)},
    robust=0.2,
)
"""Between sizes that were timed the table goes on straight; single slow timings are passed by."""
RANKS: Final = (2.0, 4.0, 8.0, 16.0)


def collective_problem(timings: Timings, name: str, source: Source) -> Problem | None:
    """Return the rows of one collective inside a node; None without rows."""
    rows = timings.where(operation=name)
    size = rows.number("message_bytes")
    rows = rows.keep((size >= SMALLEST_BYTES) & (size <= LARGEST_BYTES))
    if not len(rows):
        return None
    ranks, size = rows.number("ranks"), rows.number("message_bytes")
    link = source.gpu.link_one_way_bytes_per_s.value
    reduces = name == "all_reduce"

    def seconds(fit: CollectiveFit, some: Rows = ALL) -> FloatArray:
        return np.asarray(
            collective_s(
                size[some], ranks[some], fit=fit, link_bytes_per_s=link, there_and_back=reduces
            )
        )

    def make(values: Mapping[str, float]) -> CollectiveFit:
        return construct(CollectiveFit, values)

    base: CollectiveFit = getattr(source.base, name)
    coordinates = {"ranks": ranks, "bytes": size}
    known = tuple(rank for rank in RANKS if rank in ranks)
    tabled = {"ranks": known, "bytes": SIZES} if len(known) > 1 else {"bytes": SIZES}
    return Problem(
        part=name,
        kernels=kernels_of(rows),
        measured_s=rows.number("latency_s"),
        floor_s=(ranks - 1.0) / ranks * size / link,
        groups=groups_of(ranks, size),
        coordinates=coordinates,
        flop=np.zeros(len(rows)),
        bytes_moved=size,
        coefficients=_coefficients(base, source.sigma),
        form=lambda values, some: seconds(make(values), some),
        make=make,
        base_s=source.base_seconds(base, seconds, coordinates),
        scored=np.ones(len(rows), dtype=bool),
        regimes={
            "up to 256 KiB": size <= 2.0**18,
            "256 KiB to 256 MiB": size > 2.0**18,
            **{f"{rank:g} ranks": ranks == rank for rank in known},
        },
        table=GridTable(tabled, coordinates, base.residual, PENALTY),  # type: ignore[arg-type]
        table_fewest=TABLE_FEWEST,
        certain_from=TABLE_FEWEST,
    )


def _coefficients(base: CollectiveFit, sigma: float) -> tuple[Coefficient, ...]:
    return (
        Coefficient("fixed_s", "time", base.fixed_s, sigma),
        Coefficient("per_extra_rank_s", "time", base.per_extra_rank_s, sigma),
        Coefficient("bandwidth_efficiency", "efficiency", base.bandwidth_efficiency, sigma),
    )
