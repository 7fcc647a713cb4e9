"""Conversions. Inside `sim` everything is in s, B, FLOP, W and USD; units end at this file."""

from typing import Final

GB: Final = 1e9
"""Bytes in a gigabyte (decimal, as datasheets print it)."""
GIB: Final = float(2**30)
"""Bytes in a gibibyte (as memory is really sold and reported)."""
MIB: Final = float(2**20)
TERA: Final = 1e12
GIGA: Final = 1e9
MEGA: Final = 1e6
MS_PER_S: Final = 1e3
US_PER_S: Final = 1e6
NS_PER_S: Final = 1e9
HOURS_PER_MONTH: Final = 730.0
"""One month of continuous rent: 8,760 h / 12."""
SECONDS_PER_HOUR: Final = 3600.0
TOKEN_ROUNDING: Final = 1e-6
"""Fractional KV growth adds up to whole tokens only to rounding: less than this is not a token."""


def counted(value: float, one: str, many: str | None = None) -> str:
    """Return a number of things, in whole ones, with their name.

    >>> counted(1, "pass", "passes"), counted(1200, "request")
    ('1 pass', '1,200 requests')
    """
    number = f"{value:,.0f}"
    return f"{number} {one if number == '1' else many or one + 's'}"
