"""Numbers as people read them."""

from sim.units import MS_PER_S


def milliseconds(seconds: float) -> str:
    """Return a time: one decimal below 10 ms, none below 1 s, then seconds.

    >>> milliseconds(0.0042), milliseconds(0.179), milliseconds(1.046)
    ('4.2 ms', '179 ms', '1.05 s')
    """
    ms = seconds * MS_PER_S
    if ms < 9.95:
        return f"{ms:.1f} ms"
    return f"{ms:.0f} ms" if ms < 999.5 else f"{seconds:,.2f} s"


def percent(share: float) -> str:
    """Return a share in percent, without decimals.

    >>> percent(0.652)
    '65%'
    """
    return f"{share:.0%}"


def ratio(value: float) -> str:
    """Return a ratio with two significant digits, at least one of them a decimal below 10.

    >>> ratio(1.37), ratio(0.052), ratio(14.2)
    ('1.4×', '0.05×', '14×')
    """
    if value < 0.1:
        return f"{value:.2f}×"
    return f"{value:.1f}×" if value < 9.95 else f"{value:,.0f}×"


def significant(value: float) -> str:
    """Return a positive number with three significant digits and thousands commas.

    >>> significant(1234.5), significant(87.25), significant(8.4), significant(0.5)
    ('1,230', '87.2', '8.4', '0.5')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def usd(value: float) -> str:
    """Return an amount: two decimals below $100, none from there.

    >>> usd(0.634), usd(8147.3)
    ('$0.63', '$8,147')
    """
    return f"${value:,.2f}" if value < 99.995 else f"${value:,.0f}"


def hardware_name(profile: str) -> str:
    """Return the name of a GPU profile as people write it.

    >>> hardware_name("h100_sxm")
    'H100 SXM'
    """
    return profile.replace("_", " ").upper()
