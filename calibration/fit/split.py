"""Which shapes a fit must predict without having seen them."""

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

SHARE: Final = 0.3
ENOUGH_GROUPS: Final = 40
FOLDS: Final = 3
_SEED: Final = 20261130


def held_out(groups: NDArray[np.intp]) -> Iterator[NDArray[np.bool_]]:
    """Yield masks of rows to hold out, whole groups at a time.

    With 40 shapes or more, 30 % of them once; with fewer, each third in turn.
    """
    if len(np.unique(groups)) < FOLDS:  # one head layout, say: then the rows are the shapes
        groups = np.arange(len(groups))
    names = np.unique(groups)
    order = np.random.default_rng(_SEED).permutation(names)
    if len(names) >= ENOUGH_GROUPS:
        yield np.isin(groups, order[: round(SHARE * len(names))])
        return
    for fold in range(min(FOLDS, len(names))):
        yield np.isin(groups, order[fold::FOLDS])
