"""Timings that no sister GPU confirms: shapes whose autotuning failed, and single slips.

In the tables of TensorRT-LLM some shapes of experts take 1.7 to 2.1 times as long on one GPU as
the same kernel does on its sisters (H200: 3.8 to 4.5 times), at every number of tokens, and other
shapes do so on another GPU: a kernel's tactics are chosen when it is first run, and there the
choice failed. Of 9,500 shapes none lies between 1.5 and 1.67 times.
"""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np

from calibration.timings.aiconfigurator.wheel import Rows, read_rows
from sim.hardware import load_gpu
from sim.records import FloatArray

Mask: TypeAlias = "np.typing.NDArray[np.bool_]"
Keys: TypeAlias = "np.typing.NDArray[np.int64]"
_FAMILIES: Final = (("h100_sxm", "h200_sxm"), ("b200_sxm", "b300_sxm", "gb200", "gb300"))
SISTERS: Final = MappingProxyType(
    {
        gpu: tuple(other for other in family if other != gpu)
        for family in _FAMILIES
        for gpu in family
    }
)
"""GPUs of the same compute capability; the wheel and we call them by the same names."""
FAILED_SHAPE: Final = 1.6
"""Times as long as the quickest sister, median over the tokens: in the gap between both kinds."""
SLIP: Final = 2.5
"""The same of a single timing; those of shapes that were tuned well scatter by less than 2.3."""
_SHAPE: Final = (
    *("moe_dtype", "kernel_source", "distribution", "hidden_size", "inter_size", "topk"),
    *("num_experts", "moe_tp_size", "moe_ep_size"),
)


def confirmed(rows: Rows, gpu: str) -> Mask:
    """Return which timings of routed experts a sister confirms, or has none of."""
    found = (read_rows(other, "moe", rows.engine, "moe_perf") for other in SISTERS.get(gpu, ()))
    sisters = [
        (each, name)
        for each, name in zip(found, SISTERS.get(gpu, ()), strict=True)
        if each is not None and each.version == rows.version
    ]
    if not sisters or not len(rows):
        return np.ones(len(rows), dtype=bool)
    tables = [rows, *(each for each, _ in sisters)]
    shapes = _keys(tables, _SHAPE)
    kernels = _keys(tables, (*_SHAPE, "num_tokens"))
    shortest = np.full(len(rows), np.inf)
    for (each, name), keys in zip(sisters, kernels[1:], strict=True):
        times = each.number("latency") * _slower(gpu, name)
        shortest = np.minimum(shortest, _looked_up(kernels[0], keys, times))
    ratio = rows.number("latency") / shortest
    kept: Mask = ratio <= SLIP
    for mine in _groups(shapes[0]):
        compared = ratio[mine][ratio[mine] > 0.0]
        if len(compared) and np.median(compared) > FAILED_SHAPE:
            kept[mine] = False
    return kept


def _slower(gpu: str, sister: str) -> float:
    """Return how much longer a kernel may take than on a sister that reads memory faster."""
    own, other = (load_gpu(name).memory_bandwidth_bytes_per_s.value for name in (gpu, sister))
    return max(1.0, other / own)


def _keys(tables: Sequence[Rows], names: Sequence[str]) -> list[Keys]:
    """Return a number for each row of each table: the same where all columns are."""
    total = np.zeros(sum(map(len, tables)), dtype=np.int64)
    for name in names:
        column = np.concatenate([table.columns[name] for table in tables])
        column = column.astype(str) if column.dtype == object else column
        values, codes = np.unique(column, return_inverse=True)
        total = total * len(values) + codes
    ends = np.cumsum([len(table) for table in tables])[:-1]
    return [np.asarray(part) for part in np.split(total, ends)]


def _looked_up(wanted: Keys, keys: Keys, times: FloatArray) -> FloatArray:
    """Return the shortest time of each key; infinite where there is none."""
    order = np.lexsort((times, keys))
    found, first = np.unique(keys[order], return_index=True)
    at = np.minimum(np.searchsorted(found, wanted), len(found) - 1)
    result: FloatArray = np.where(found[at] == wanted, times[order][first][at], np.inf)
    return result


def _groups(keys: Keys) -> list["np.typing.NDArray[np.intp]"]:
    """Return the places of each key."""
    order = np.argsort(keys, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(keys[order])) + 1)
