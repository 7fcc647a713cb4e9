"""Collectives of the wheel: custom all-reduces of the engines, and NCCL.

`message_size` is a number of elements, not of bytes. Rows without a CUDA graph hold the host's
time and are left out.
"""

from collections.abc import Iterator
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from calibration.timings.aiconfigurator.wheel import NCCL, Rows, read_rows
from calibration.timings.table import from_columns
from sim.units import MS_PER_S

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES: Final = MappingProxyType({"bfloat16": 2, "half": 2})
_OPERATIONS: Final = MappingProxyType(
    {
        "all_reduce": "all_reduce",
        "all_gather": "all_gather",
        "reduce_scatter": "reduce_scatter",
        "alltoall": "all_to_all",
    }
)


def all_reduces(system: str, gpu: str, engine: str) -> Iterator["pa.Table"]:
    """Yield the engine's own all-reduce, as captured in a graph."""
    rows = read_rows(system, "comm", engine, "custom_allreduce_perf")
    if rows is None:
        return
    eager = np.array(["eager" in str(name) for name in rows.columns["kernel_source"]], dtype=bool)
    if "backend" in rows.columns:
        eager |= np.array(["eager" in str(name) for name in rows.columns["backend"]], dtype=bool)
    rows = rows.where(~eager & np.isin(rows.columns["allreduce_dtype"], list(_BYTES)))
    yield _table(rows, gpu, ["all_reduce"] * len(rows), "allreduce_dtype", captured=True)


def nccl(system: str, gpu: str) -> Iterator["pa.Table"]:
    """Yield NCCL's collectives in 16 bits."""
    rows = read_rows(system, "comm", NCCL, "nccl_perf")
    if rows is None:
        return
    rows = rows.where(
        np.isin(rows.columns["nccl_dtype"], list(_BYTES))
        & np.isin(rows.columns["op_name"], list(_OPERATIONS))
    )
    names = [_OPERATIONS[name] for name in rows.columns["op_name"]]
    yield _table(rows, gpu, names, "nccl_dtype", captured=False)


def _table(
    rows: Rows, gpu: str, operations: list[str], dtype: str, *, captured: bool
) -> "pa.Table":
    sizes = np.array([_BYTES[name] for name in rows.columns[dtype]], dtype=np.int64)
    return from_columns(
        {
            "operation": operations,
            "precision": "bf16",
            "gpu": gpu,
            "engine": rows.engine,
            "engine_version": rows.version,
            "kernel": rows.columns["kernel_source"],
            "latency_s": rows.number("latency") / MS_PER_S,
            "captured": captured,
            "ranks": rows.columns["num_gpus"],
            "message_bytes": rows.columns["message_size"].astype(np.int64) * sizes,
            "source": rows.source,
        },
        len(rows),
    )
