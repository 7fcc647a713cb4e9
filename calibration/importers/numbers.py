"""Numbers as benchmark files hold them: text, nulls, infinities and units of every kind."""

import math
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

_MS_PER_UNIT: Final = {
    "ns": 1e-6,
    "us": 1e-3,
    "µs": 1e-3,
    "ms": 1.0,
    "milliseconds": 1.0,
    "s": 1e3,
    "sec": 1e3,
    "seconds": 1e3,
}

PERCENTILES: Final = (1, 5, 10, 25, 50, 75, 90, 95, 99)
"""Those of lengths that the tools tell."""
_GROUPED: Final = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
"""A number with a comma between thousands, as GenAI-Perf writes them."""


def number(value: object) -> float | None:
    """Return a number, also from text; None for everything else. Infinity stays infinite.

    >>> number("inf"), number("12.5"), number(None), number("n/a"), number(True)
    (inf, 12.5, None, None, None)

    Commas may separate thousands; a comma as the decimal point is no number:

    >>> number("1,234.5"), number("12,345,678"), number("96,1"), number("0,25")
    (1234.5, 12345678.0, None, None)
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        found = _float(value)
        return None if math.isnan(found) else found
    if not isinstance(value, str):
        return None
    text = value.strip()
    if "," in text:
        if _GROUPED.fullmatch(text) is None:
            return None
        text = text.replace(",", "")
    try:
        found = float(text)
    except ValueError:
        return None
    return None if math.isnan(found) else found


def _float(value: float) -> float:
    """Return a number as a float; a whole number beyond all floats is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def positive(value: object) -> float | None:
    """Return a finite number above 0, else None."""
    found = number(value)
    return found if found is not None and math.isfinite(found) and found > 0 else None


def whole(value: object) -> int | None:
    """Return a whole number from 1, else None: `null`, 0 and infinity mean no limit in files."""
    found = positive(value)
    return int(found) if found is not None and found == int(found) else None


def milliseconds(value: object, unit: str) -> float | None:
    """Return a time in ms; None for none, or in a unit that is no time.

    >>> milliseconds(0.25, "sec"), milliseconds(3, "parsecs")
    (250.0, None)
    """
    factor, found = _MS_PER_UNIT.get(unit.strip().lower()), positive(value)
    return None if factor is None or found is None else found * factor


def quantiles(
    low: object, inner: Mapping[int, object], high: object
) -> tuple[tuple[float, float], ...]:
    """Return the quantiles that are there; none at all without both ends, or where they fall.

    `inner` is by percentile, in rising order.

    >>> quantiles(2, {50: "3", 99: None}, 9), quantiles(None, {50: 3}, 9), quantiles(5, {50: 3}, 9)
    (((0.0, 2.0), (0.5, 3.0), (1.0, 9.0)), (), ())
    """
    ends = number(low), number(high)
    middle = [(percent / 100, number(value)) for percent, value in inner.items()]
    table = [(0.0, ends[0]), *middle, (1.0, ends[1])]
    known = [(share, tokens) for share, tokens in table if tokens is not None]
    falls = any(later[1] < earlier[1] for earlier, later in pairwise(known))
    return () if None in ends or falls or known[0][1] < 1 else tuple(known)


def at(document: object, *path: str) -> object:
    """Return what lies under some keys, or None where the way ends.

    >>> at({"a": {"b": 3}}, "a", "b"), at({"a": None}, "a", "b")
    (3, None)
    """
    for key in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(key)
    return document


def text(value: object) -> str | None:
    """Return text that is not empty, else None."""
    return value.strip() or None if isinstance(value, str) else None
