"""Times in other units than their column says: found by a factor of about a thousand."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from sim.errors import InputError

THOUSAND: Final = (250.0, 4000.0)
"""A median of measured / predicted in here, or its inverse, is a slip of units: no prediction is
off by so much, and no two columns of a table either."""


def check_units(
    name: str, pairs: Sequence[tuple[float | None, float | None]], *, where: str
) -> None:
    """Raise `InputError` where (predicted, measured) times differ by a thousand at the median."""
    known = [(p, m) for p, m in pairs if p is not None and m is not None and p > 0]
    if not known:
        return
    ratio = float(np.median([measured / predicted for predicted, measured in known]))
    low, high = THOUSAND
    for factor, unit in ((ratio, "µs"), (1 / ratio, "seconds")):
        if low < factor < high:
            raise InputError(
                f"`{name}` is {ratio:,.3g} times the prediction at the median of {len(known)}"
                f" rows, as if it were in {unit}",
                where=where,
                remedy="give it in milliseconds",
            )


_MOST_NAMED: Final = 3


def doubtful_units(
    name: str, rows: Iterable[tuple[str, float | None, float | None]]
) -> Iterator[str]:
    """Say which of some rows (case, predicted, measured) look like slips of units.

    They are named and counted like any other: a prediction may be that far off where a queue
    forms or does not.
    """
    low, high = THOUSAND
    found = [
        (case, measured / predicted)
        for case, predicted, measured in rows
        if predicted and measured and low < max(measured / predicted, predicted / measured) < high
    ]
    listed = ", ".join(f"{case} ({ratio:,.4g} times)" for case, ratio in found[:_MOST_NAMED])
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    if found:
        yield (
            f"`{name}` is about a thousand times the prediction, or a thousandth, in"
            f" {listed}{more}: see whether it is in milliseconds there"
        )
