"""Collectives inside a node: latency, and bytes over the fitted one-way link."""

import numpy as np

from sim.cost.residuals import Grid, grid_of
from sim.cost.roofline import Figures
from sim.hardware import CollectiveFit, GpuProfile
from sim.hardware.residual import Residual


def spans_nodes(gpus: int, gpu: GpuProfile) -> bool:
    """Whether a group of GPUs exchanges data over the network: ranks fill a node first."""
    return gpus > gpu.gpus_per_node.value and gpu.network_one_way_bytes_per_s is not None


def collective_s(
    tensor_bytes: Figures,
    ranks: Figures,
    *,
    fit: CollectiveFit,
    link_bytes_per_s: float,
    there_and_back: bool,
) -> Figures:
    """Return latency + share of the tensor / link: the share is (n-1)/n, twice for a reduction."""
    latency_s = fit.fixed_s + fit.per_extra_rank_s * (ranks - 2)
    moved = (2 if there_and_back else 1) * (ranks - 1) / ranks * tensor_bytes
    return latency_s + moved / (fit.bandwidth_efficiency * link_bytes_per_s)


def all_reduce_s(
    tensor_bytes: Figures, ranks: int, *, fit: CollectiveFit, link_bytes_per_s: float
) -> Figures:
    """Return the time of a ring all-reduce: latency + 2 (n-1)/n bytes / link.

    No ring moves less: each rank must send and receive 2 (n-1)/n of the tensor (Patarasuk and
    Yuan 2009); a switch that adds up (NVLink SHARP) halves it at best. One rank has nothing to
    reduce.
    """
    if ranks == 1:
        return 0.0 * tensor_bytes
    return collective_s(
        tensor_bytes, ranks, fit=fit, link_bytes_per_s=link_bytes_per_s, there_and_back=True
    )


def exchange_s(
    tensor_bytes: Figures, ranks: int, *, fit: CollectiveFit, link_bytes_per_s: float
) -> Figures:
    """Return the time of an all-to-all, all-gather or reduce-scatter.

    Each rank sends or receives (n-1)/n of `tensor_bytes`, the whole tensor that passes through it.
    """
    return collective_s(
        tensor_bytes, ranks, fit=fit, link_bytes_per_s=link_bytes_per_s, there_and_back=False
    )


def quicker_all_reduce(
    own: CollectiveFit, other: CollectiveFit, *, link_bytes_per_s: float
) -> CollectiveFit:
    """Return the all-reduce of an engine that has two, and takes the quicker one at each size.

    The form is the other's; between its knots the table holds the smaller of both times. Without
    two tables it is the other's alone.
    """
    if own.residual is None or other.residual is None:
        return other
    grid = Grid.of(other.residual)
    mesh = np.meshgrid(*(2.0**octaves for octaves in grid.octaves), indexing="ij")
    at = dict(zip(grid.names, mesh, strict=True))
    form_s, own_s = (
        collective_s(
            *(at["bytes"], at["ranks"]),
            fit=fit,
            link_bytes_per_s=link_bytes_per_s,
            there_and_back=True,
        )
        for fit in (other, own)
    )
    log_own = np.log(own_s / form_s) + grid_of(own.residual).log_ratio(**at)
    quicker = np.minimum(grid.values, log_own)
    hundredths = " ".join(str(round(100 * value)) for value in quicker.ravel().tolist())
    table = Residual(axes=other.residual.axes, hundredths=hundredths)
    return other.model_copy(update={"residual": table})
