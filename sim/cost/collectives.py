"""Collectives of tensor parallelism inside one node."""

from sim.hardware import AllReduceFit


def all_reduce_s(
    bytes_per_rank: float, ranks: int, *, fit: AllReduceFit, link_bytes_per_s: float
) -> float:
    """Return the time of a ring all-reduce: latency + 2 (n-1)/n bytes / link.

    No pass moves less: each rank must send and receive 2 (n-1)/n of the tensor (Patarasuk and
    Yuan 2009).
    """
    if ranks == 1:
        return 0.0
    latency_s = fit.fixed_s + fit.per_extra_rank_s * (ranks - 2)
    moved = 2 * (ranks - 1) / ranks * bytes_per_rank
    return latency_s + moved / (fit.bandwidth_efficiency * link_bytes_per_s)
