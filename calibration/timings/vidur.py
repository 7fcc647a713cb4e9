"""Timings from Vidur's profiles (microsoft/vidur): `mlp.csv`, `attention.csv`, `all_reduce.csv`.

Columns `time_stats.<operation>.median` are in ms. Products are in fp16, which runs as bf16 does;
the shapes are those of one rank. `size` of a collective is in bytes of the tensor of one rank;
that of an all-gather becomes the gathered tensor. Rows that time the same kernel (ranks, repeats)
become their median.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from calibration.cells import read_cells
from calibration.importers.numbers import positive, whole
from calibration.timings.rows import Row, from_rows, medians
from calibration.timings.table import Timings
from sim.errors import InputError
from sim.units import MS_PER_S

Cells = Mapping[str, str]
_MLP_FACTS: Final = ("n_head", "n_kv_head", "n_embd", "n_expanded_embd", "num_tokens")


def import_vidur(folder: Path, *, gpu: str) -> Timings:
    """Return the kernels of all profiles of Vidur under a folder, as those of one GPU."""
    readers: dict[str, Callable[[Cells], Iterator[Row]]] = {
        "mlp.csv": _products,
        "attention.csv": _attention,
        "all_reduce.csv": _collectives,
        "all_gather.csv": _collectives,
        "reduce_scatter.csv": _collectives,
    }
    if not folder.is_dir():
        raise InputError("there is no such folder", where=str(folder))
    files = sorted(path for path in folder.rglob("*.csv") if path.name in readers)
    if not files:
        raise InputError(
            "holds no profile of Vidur", where=str(folder), remedy=f"known: {', '.join(readers)}"
        )
    rows: list[Row] = []
    for path in files:
        found = list(_rows(path, readers[path.name], gpu))
        if not found:
            raise InputError("holds no `time_stats.<operation>.median` [ms]", where=str(path))
        rows.extend(found)
    return from_rows(medians(rows), str(folder))


def _rows(path: Path, reader: Callable[[Cells], Iterator[Row]], gpu: str) -> Iterator[Row]:
    header, lines = read_cells(path)
    for line, cells in lines:
        named = dict(zip(header, cells, strict=False))
        try:
            found = list(reader(named))
        except (KeyError, TypeError, ValueError) as error:
            problem = f"line {line}: a figure is missing or no number ({error})"
            raise InputError(problem, where=str(path)) from None
        for row in found:
            yield {
                "gpu": gpu,
                "engine_version": "unknown",
                "captured": False,
                "source": f"Vidur profile {path.name}",
                **row,
            }


def _median_s(cells: Cells, operation: str) -> float | None:
    """Return the median time of an operation [s]; None where this row did not time it."""
    cell = cells.get(f"time_stats.{operation}.median", "")
    if not cell:
        return None
    value = positive(cell)
    if value is None:
        raise ValueError(f"time_stats.{operation}.median is {cell!r}")
    return value / MS_PER_S


def _count(cells: Cells, name: str) -> int:
    value = whole(cells.get(name))
    if value is None:
        raise ValueError(f"`{name}` is {cells.get(name)!r}")
    return value


def _products(cells: Cells) -> Iterator[Row]:
    heads, kv_heads, width, wide, tokens = (_count(cells, name) for name in _MLP_FACTS)
    ranks = whole(cells.get("num_tensor_parallel_workers")) or 1
    head_dim = width // heads
    gated = 2 if cells.get("use_gated_mlp", "").lower() in {"true", "1"} else 1
    shapes = {
        "attn_pre_proj": ((heads + 2 * max(kv_heads, ranks)) * head_dim // ranks, width),
        "attn_post_proj": (width, heads * head_dim // ranks),
        "mlp_up_proj": (gated * wide // ranks, width),
        "mlp_down_proj": (width, wide // ranks),
    }
    for operation, (outer, inner) in shapes.items():
        latency_s = _median_s(cells, operation)
        if latency_s is not None:
            yield {
                "operation": "gemm",
                "precision": "bf16",
                "engine": "vllm",
                "tokens": tokens,
                "outer": outer,
                "inner": inner,
                "latency_s": latency_s,
            }


def _attention(cells: Cells) -> Iterator[Row]:
    ranks = whole(cells.get("num_tensor_parallel_workers")) or 1
    heads, kv_heads = _count(cells, "n_q_head"), _count(cells, "n_kv_head")
    head_dim, past = _count(cells, "n_embd") // heads, whole(cells.get("kv_cache_size")) or 0
    for operation, name in (("attn_prefill", "prefill"), ("attn_decode", "decode")):
        latency_s, chunk = _median_s(cells, operation), whole(cells.get("prefill_chunk_size"))
        if latency_s is None:
            continue
        query = chunk if name == "prefill" and chunk is not None else 1
        yield {
            "operation": f"{name}_attention",
            "precision": "bf16",
            "kv_precision": "bf16",
            "engine": "vllm",
            "kernel": cells.get("attention_backend") or None,
            "sequences": _count(cells, "batch_size"),
            "query_tokens": query,
            "context_tokens": past + query,
            "heads": max(1, heads // ranks),
            "kv_heads": max(1, kv_heads // ranks),
            "head_dim": head_dim,
            "value_dim": head_dim,
            "latency_s": latency_s,
        }


def _collectives(cells: Cells) -> Iterator[Row]:
    for operation in ("all_reduce", "all_gather", "reduce_scatter"):
        latency_s = _median_s(cells, operation)
        ranks = _count(cells, "num_workers")
        if latency_s is None or ranks < 2:
            continue
        whole_tensor = 1 if operation == "all_reduce" else ranks
        yield {
            "operation": operation,
            "precision": "bf16",
            "engine": "nccl",
            "ranks": ranks,
            "message_bytes": _count(cells, "size") * whole_tensor,
            "latency_s": latency_s,
        }
