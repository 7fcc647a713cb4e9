"""The figures of a result file: which of them cannot be, and which are no number."""

import math
from collections.abc import Iterable, Mapping
from typing import Final

from calibration.importers.numbers import number

Told = Iterable[tuple[str, object]]
"""Figures as a file has them: the key under which one stands, and what stands there."""
NOTHING: Final = frozenset({"", "-", "n/a", "nan", "none", "null"})
"""Words that stand for no figure."""


def impossible(told: Told) -> str | None:
    """Say which figure cannot be one: below 0, or text that is no number (`96,1`).

    >>> impossible([("mean_ttft_ms", 3.0), ("mean_tpot_ms", -1)])
    '`mean_tpot_ms` is -1: no time is below 0'
    >>> impossible([("rate", -2), ("other", "n/a")]), impossible([("p99", "96,1")])
    ('`rate` is -2, which is below 0', "`p99` is '96,1', which is no number")
    """
    for name, value in told:
        found = number(value)
        if found is not None and found < 0:
            which = ": no time is below 0" if _is_time(name) else ", which is below 0"
            return f"`{name}` is {found:g}{which}"
        if found is None and isinstance(value, str) and value.strip().lower() not in NOTHING:
            return f"`{name}` is {value[:40]!r}, which is no number"
    return None


def lost(told: Told) -> tuple[str, ...]:
    """Say which figures stand in a file and are no number, such as NaN, and so in no error."""
    return tuple(
        f"`{name}` is {_shown(value)}, which is no number: taken as not told"
        for name, value in told
        if str(value or "").strip().lower() not in NOTHING - {"nan"}
        and number(value) in {None, math.inf, -math.inf}
    )


def _is_time(name: str) -> bool:
    return name.endswith(("_ms", "_s", "(ms)"))


def _shown(value: object) -> str:
    """Return what stands there, in short: it may be a list of a million numbers."""
    if isinstance(value, Mapping | list):
        return "a list" if isinstance(value, list) else "an object"
    return str(value)[:40]
