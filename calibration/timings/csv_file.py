"""Timings from a CSV file with the columns of the schema: the collector's own, or anybody's.

`latency_s` may be `latency_ms` or `latency_us` instead; `gpu` may be the name that the driver
gives (`NVIDIA H200`). An empty cell is null, a column that the schema lacks is refused.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from calibration.cells import check_shape, read_cells
from calibration.importers.gpus import gpu_name
from calibration.importers.numbers import number
from calibration.timings.rows import from_rows
from calibration.timings.schema import COLUMNS, LONGEST_S, SHORTEST_S
from calibration.timings.table import Timings
from sim.errors import InputError
from sim.units import MS_PER_S, US_PER_S

_PER_S: Final = {"latency_s": 1.0, "latency_ms": MS_PER_S, "latency_us": US_PER_S}
_EXAMPLE: Final = "gemm,bf16,h100_sxm,torch,2.9,0.0000412,64,8192,4096"
"""Under operation, precision, gpu, engine, engine_version, latency_s, tokens, outer, inner."""
_FLAGS: Final = {"true": True, "1": True, "false": False, "0": False}


def import_csv(path: Path, *, gpu: str | None = None, engine: str | None = None) -> Timings:
    """Return the kernels of a CSV file; `gpu` and `engine` stand for columns that it lacks."""
    header, rows = read_cells(path)
    check_shape(path, header, rows, example=_EXAMPLE)
    latencies = [name for name in header if name in _PER_S]
    if len(latencies) != 1:
        raise InputError(
            "needs one column `latency_s` (or `latency_ms`, `latency_us`)", where=str(path)
        )
    unknown = [name for name in header if name not in COLUMNS and name not in _PER_S]
    if unknown:
        raise InputError(
            f"unknown column `{unknown[0]}`",
            where=str(path),
            remedy=f"known: {', '.join(COLUMNS)}",
        )
    defaults = {"engine_version": "unknown", "source": path.name}
    defaults |= {"gpu": gpu} if gpu else {}
    defaults |= {"engine": engine} if engine else {}
    made = []
    for line, cells in rows:
        named = dict(zip(header, cells, strict=True))
        row = {name: _value(path, line, name, named.get(name, "")) for name in COLUMNS}
        row["latency_s"] = _latency(path, line, latencies[0], named[latencies[0]])
        made.append({**row, **{k: row[k] or v for k, v in defaults.items()}})
    for row in made:
        row["gpu"] = gpu or gpu_name(row["gpu"])[0]
    return from_rows(made, str(path))


def _latency(path: Path, line: int, name: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value <= 0:
        raise InputError(
            f"line {line}: `{name}` should be a number above 0, found {cell!r}", where=str(path)
        )
    latency_s = value / _PER_S[name]
    if not SHORTEST_S <= latency_s <= LONGEST_S:
        raise InputError(
            f"line {line}: `{name}` of {cell} is {latency_s:.3g} s, which no kernel takes",
            where=str(path),
            remedy="see whether the times are in the unit of the column's name",
        )
    return latency_s


def _value(path: Path, line: int, name: str, cell: str) -> object:
    if not cell:
        return None
    kind = COLUMNS[name].kind
    if kind == "text":
        return cell
    if kind == "flag" and cell.lower() in _FLAGS:
        return _FLAGS[cell.lower()]
    value = number(cell)
    odd = kind == "flag" or value is None or not math.isfinite(value)
    if value is None or odd or (kind == "integer" and value != int(value)):
        raise InputError(
            f"line {line}: `{name}` should hold {kind} values, found {cell!r}", where=str(path)
        )
    return int(value) if kind == "integer" else value


def export_rows(rows: list[Mapping[str, object]], gpu: str | None, where: str) -> Timings:
    """Return what the collector measured as timings, under the name of a profile."""
    return from_rows(
        [{**row, "gpu": gpu or gpu_name(row["gpu"])[0] or row["gpu"]} for row in rows], where
    )
