"""Time later: counts to seconds with the fitted losses of a profile."""


def smooth_roofline_s(
    *,
    flop: float,
    bytes_moved: float,
    flop_per_s: float,
    bytes_per_s: float,
    fixed_s: float,
    p: float,
) -> float:
    """Return `fixed + ((F/P)^p + (B/BW)^p)^(1/p)`: a roofline whose corner is rounded by `p`.

    `p` to infinity is the hard roofline, max(F/P, B/BW) (Williams et al. 2009).

    >>> rates = {"flop_per_s": 1e12, "bytes_per_s": 1e9}
    >>> smooth_roofline_s(flop=3e12, bytes_moved=4e9, **rates, fixed_s=1.0, p=2.0)
    6.0
    """
    compute_s, memory_s = flop / flop_per_s, bytes_moved / bytes_per_s
    longer = max(compute_s, memory_s)
    if longer == 0.0:
        return fixed_s
    shorter = min(compute_s, memory_s)
    return float(fixed_s + longer * (1.0 + (shorter / longer) ** p) ** (1.0 / p))
