"""Numbers as people read them: sensible digits, units once, thousands commas, `—` for nothing."""

from collections.abc import Callable
from math import floor, isinf, log10
from typing import Final

from sim.metrics.intervals import Interval
from sim.units import GB, MS_PER_S

NOTHING: Final = "—"
MINUS: Final = "\N{MINUS SIGN}"
_RANGE: Final = " – "
_ROUNDING: Final = 1e-9
"""What floating point leaves of nothing."""

Formatter = Callable[[float], str]


def number(value: float, digits: int = 3) -> str:
    """Return a number with so many significant digits at least, never in powers of ten.

    >>> [number(x) for x in (0.01234, 8.0, 46.21, 1619.4)]
    ['0.0123', '8.00', '46.2', '1,619']
    """
    if value == 0:
        return "0"
    # Rounding first: 9.996 has as many decimals as 10.0.
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - floor(log10(abs(rounded))))
    return f"{value:,.{decimals}f}".replace("-", MINUS)


def count(value: float) -> str:
    """Return a whole number.

    >>> count(19366)
    '19,366'
    """
    return f"{value:,.0f}".replace("-", MINUS)


def significant(value: float, digits: int = 3) -> str:
    """Return a positive number with so many digits at most and no zeros at the end.

    >>> significant(1234.5), significant(87.25), significant(8.4), significant(100.0)
    ('1,230', '87.2', '8.4', '100')
    """
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def ratio(value: float, decimals: int = 1) -> str:
    """Return a ratio: one decimal fewer from ten on, two below a tenth.

    >>> ratio(1.37), ratio(0.052), ratio(14.2), ratio(1.372, 2)
    ('1.4×', '0.05×', '14×', '1.37×')
    """
    if value < 0.1:
        return f"{value:.2f}×"
    return f"{value:,.{decimals if value < 9.95 else decimals - 1}f}×"


def gigabytes(size_bytes: float) -> str:
    """Return a size of memory [B] in GB.

    >>> gigabytes(36.28e9)
    '36.3 GB'
    """
    return f"{size_bytes / GB:.1f} GB"


def time_ms(value_s: float) -> str:
    """Return a time [s] in ms, from one second on in s.

    >>> [time_ms(x) for x in (0.0021, 0.418, 1.05, 12.95, 634.2)]
    ['2.1 ms', '418 ms', '1.05 s', '12.9 s', '634 s']
    """
    value_ms = value_s * MS_PER_S
    if value_ms < 9.95:
        return f"{value_ms:.1f} ms"
    if value_ms < 999.5:
        return f"{value_ms:.0f} ms"
    return f"{number(value_s)} s"


def token_ms(value_s: float) -> str:
    """Return a time per token [s] in ms with one decimal more: they are compared closely.

    >>> [token_ms(x) for x in (0.0211, 0.118)]
    ['21.1 ms', '118 ms']
    """
    value_ms = value_s * MS_PER_S
    return f"{value_ms:.1f} ms" if value_ms < 99.95 else time_ms(value_s)


def percent(share: float, decimals: int = 1) -> str:
    """Return a share as a percentage; only all of it is 100%, only none of it is 0%.

    >>> [percent(x) for x in (0.5, 0.9996, 1.0, 0.99999, 0.0, 0.0001)]
    ['50.0%', '99.96%', '100%', '>99.99%', '0%', '<0.1%']
    """
    if min(abs(share), abs(1 - share)) < _ROUNDING:
        return f"{share:.0%}"
    if 0 < share < 0.5 * 10 ** -(decimals + 2):
        return f"<{10**-decimals:g}%"
    if 1 - 0.5 * 10 ** -(decimals + 2) <= share < 1:
        return ">99.99%" if share >= 0.99995 else f"{share:.2%}"
    return f"{share:.{decimals}%}".replace("-", MINUS)


def usd(value: float) -> str:
    """Return an amount of money: whole dollars from 100 on, two decimals or digits below.

    >>> [usd(x) for x in (16293.6, 22.32, 3.8283, 0.000791)]
    ['$16,294', '$22.32', '$3.83', '$0.00079']
    """
    if abs(value) < _ROUNDING:
        return "$0.00"
    if value < 0:
        return f"{MINUS}{usd(-value)}"
    if value >= 99.995:
        return f"${value:,.0f}"
    if value >= 0.0995:
        return f"${value:.2f}"
    return f"${number(value, 2)}"


def span(interval: Interval, form: Formatter) -> str:
    """Return both ends of a range, the unit once where they share it.

    >>> span((0.397, 0.438), time_ms)
    '397 – 438 ms'
    >>> span((0.9, 1.2), time_ms)
    '900 ms – 1.20 s'
    >>> span((3.71, 3.96), usd), span((1.2, 1.5), ratio)
    ('$3.71 – 3.96', '1.2 – 1.5×')
    """
    if isinf(interval[1]):
        return f"{form(interval[0])}{_RANGE}no limit"
    low, high = form(interval[0]), form(interval[1])
    for unit in (" ms", " s", "%", "×"):
        if low.endswith(unit) and high.endswith(unit):
            low = low.removesuffix(unit)
            break
    if low.startswith("$") and high.startswith("$"):
        high = high.removeprefix("$")
    return f"{low}{_RANGE}{high}"


def maybe(value: float | None, form: Formatter) -> str:
    """Return the value in words, or a dash where there is none."""
    return NOTHING if value is None else form(value)


def maybe_span(interval: Interval | None, form: Formatter) -> str:
    """Return the interval in words, or a dash where there is none."""
    return NOTHING if interval is None else span(interval, form)


def gpu_label(name: str) -> str:
    """Return what people call a GPU.

    >>> gpu_label("h100_sxm")
    'H100'
    """
    return name.partition("_")[0].upper()


def gpu_full_label(name: str) -> str:
    """Return the name of a GPU as its vendor writes it, near enough, to tell it from its kin.

    >>> gpu_full_label("a100_sxm_80gb")
    'A100 SXM 80GB'
    """
    return name.upper().replace("_", " ")


def deployment_label(gpu: str, replicas: int, gpus_per_replica: int) -> str:
    """Return hardware and layout in words.

    >>> deployment_label("h100_sxm", 4, 2)
    '8 × H100 (4 replicas of 2)'
    """
    label = f"{replicas * gpus_per_replica} × {gpu_label(gpu)}"
    if replicas == 1 or gpus_per_replica == 1:
        return label
    return f"{label} ({replicas} replicas of {gpus_per_replica})"
