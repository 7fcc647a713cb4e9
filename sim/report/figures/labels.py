"""Places for labels that must not lie on each other."""

from collections.abc import Sequence


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
