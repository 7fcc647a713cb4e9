"""A claim as a page tells it."""

from dataclasses import dataclass

from sim.report.figures.small_bars import Bar


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: what it says, its figures, and the bars that show them."""

    key: str
    title: str
    text: str
    bars: tuple[Bar, ...]
