"""Places for labels that must not lie on each other, nor on lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

Spot = tuple[float, float]
"""A place in px, y upwards."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in px."""

    left: float
    bottom: float
    width: float
    height: float

    def holds(self, spot: Spot) -> bool:
        """Tell whether a place lies inside."""
        across, up = spot[0] - self.left, spot[1] - self.bottom
        return 0 <= across <= self.width and 0 <= up <= self.height

    def overlaps(self, other: "Box") -> bool:
        """Tell whether two boxes share a place."""
        return (
            self.left < other.left + other.width
            and other.left < self.left + self.width
            and self.bottom < other.bottom + other.height
            and other.bottom < self.bottom + self.height
        )


_AWAY_PX: Final = (6.0, 14.0)
"""Distances between a line and its name, the better one first."""
_OWN: Final = 0.5
"""How much crossing the own line counts, against 1 for another one."""
_OBSTACLE: Final = 4.0


def place_names(
    lines: Sequence[Sequence[Spot]],
    widths: Sequence[float],
    frame: Box,
    obstacles: Sequence[Spot] = (),
) -> list[Box]:
    """Return a box for the name of each line: near the line, clear of lines, names and obstacles.

    A greedy search, line after line: of many places along the line the one that covers the fewest
    places of the lines wins, the first one among equals.
    """
    height = 16.0
    placed: list[Box] = []
    for number, line in enumerate(lines):
        best: tuple[float, Box] | None = None
        for box in _candidates(line, widths[number], height):
            cost = _cost(box, number, lines, placed, frame)
            cost += _OBSTACLE * sum(box.holds(spot) for spot in obstacles)
            if best is None or cost < best[0]:
                best = cost, box
        placed.append(best[1] if best else Box(frame.left, frame.bottom, widths[number], height))
    return placed


def _candidates(line: Sequence[Spot], width: float, height: float) -> Iterator[Box]:
    """Yield boxes around places of the line: right above first, then below, then left."""
    for away in _AWAY_PX:
        for across, up in line:
            yield Box(across + away, up + away / 2, width, height)
            yield Box(across - away - width, up - away / 2 - height, width, height)
            yield Box(across + away, up - height / 2, width, height)
            yield Box(across - width / 2, up + away, width, height)
            yield Box(across - width / 2, up - away - height, width, height)


def _cost(
    box: Box, number: int, lines: Sequence[Sequence[Spot]], placed: Sequence[Box], frame: Box
) -> float:
    cost = 1000.0 * sum(box.overlaps(other) for other in placed)
    corners = (
        (box.left, box.bottom),
        (box.left + box.width, box.bottom + box.height),
    )
    cost += 1000.0 * sum(not frame.holds(corner) for corner in corners)
    for other, line in enumerate(lines):
        weight = _OWN if other == number else 1.0
        cost += weight * sum(box.holds(spot) for spot in line)
    return cost


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near the wanted ones, in the same order, at least `gap` apart.

    They stay between `low` and `high` where there is room for all. Least squares by pooling:
    labels that would overlap move as one block around the mean of what they want.

    >>> spread([10.0, 11.0, 50.0], 18.0, 0.0, 100.0)
    [1.5, 19.5, 50.0]
    """
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    blocks: list[tuple[float, int]] = []  # (position of the first label, labels in the block)
    for place in order:
        first, size = max(low, min(wanted[place], high)), 1
        while blocks and blocks[-1][0] + blocks[-1][1] * gap > first:
            before, count = blocks.pop()
            first = (before * count + (first - count * gap) * size) / (count + size)
            size += count
            first = max(low, min(first, high - (size - 1) * gap))
        blocks.append((first, size))
    placed = [first + step * gap for first, size in blocks for step in range(size)]
    result = [0.0] * len(wanted)
    # Where there is no room for all, the gap counts more than the upper end.
    previous = low - gap
    for place, position in zip(order, placed, strict=True):
        previous = max(position, previous + gap)
        result[place] = previous
    return result
