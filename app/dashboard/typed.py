"""Numbers that somebody typed with commas between."""

from collections.abc import Callable
from typing import TypeVar

from sim.errors import InputError

N = TypeVar("N", int, float)


def numbers_of(text: str, number: Callable[[str], N], fault: InputError) -> list[N]:
    """Return the numbers of a list, none where it is empty; raises `fault` where one is none.

    >>> numbers_of("8, 9,", int, InputError("no list"))
    [8, 9]
    """
    try:
        return [number(word) for word in text.split(",") if word.strip()]
    except ValueError:
        raise fault from None
