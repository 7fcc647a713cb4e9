"""Domains of the requests (chat, code, …): shares, and which request is of which."""

from collections.abc import Mapping
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le, MinLen
from pydantic import AfterValidator

from sim.records import IntArray
from sim.workload.streams import open_uniforms, stream

_ROUNDING = 1e-6


def _whole(shares: dict[str, float]) -> dict[str, float]:
    if abs(sum(shares.values()) - 1.0) > _ROUNDING:
        raise ValueError(f"has shares that are {sum(shares.values()):g} in sum, not 1")
    return shares


Domains = Annotated[dict[str, Annotated[float, Gt(0), Le(1)]], MinLen(1), AfterValidator(_whole)]


def draw_domains(
    shares: Mapping[str, float] | None, rows: int, seed: int
) -> tuple[tuple[str, ...], IntArray]:
    """Return the domains and which of them each row is of; no domains: all rows are of none.

    The first rows do not depend on how many are drawn, nor on anything but shares and seed.
    """
    if shares is None:
        return (), np.zeros(rows, np.int64)
    bounds = np.cumsum(list(shares.values()))
    ranks = open_uniforms(stream(seed, "domains"), rows) * bounds[-1]
    return tuple(shares), np.searchsorted(bounds, ranks, side="left")
