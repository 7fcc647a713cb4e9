"""Numbers that only figures write: ratios, and few digits on axes and labels."""


def ratio(value: float) -> str:
    """Return a ratio with one decimal below 10, two where it is small.

    >>> ratio(1.37), ratio(0.052), ratio(14.2)
    ('1.4×', '0.05×', '14×')
    """
    if value < 0.1:
        return f"{value:.2f}×"
    return f"{value:.1f}×" if value < 9.95 else f"{value:,.0f}×"


def significant(value: float) -> str:
    """Return a positive number with three digits at most and no zeros at the end.

    >>> significant(1234.5), significant(87.25), significant(8.4), significant(100.0)
    ('1,230', '87.2', '8.4', '100')
    """
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"
