"""The links between the GPUs of one machine: collectives of NCCL, each rank a process."""

import socket
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

SIZES = tuple(1 << i for i in range(13, 29))
"""Bytes of the whole tensor of a rank."""
REPEATS = 15


def link_rows(longest_s: float = 300.0) -> Iterator[dict[str, Any]]:
    """Time every collective over 2, 4, 8 GPUs of this machine; nothing where there is only one.

    Ranks that wait for each other longer than so many seconds are ended: `RuntimeError`.
    """
    widths = [n for n in (2, 4, 8) if n <= torch.cuda.device_count()]
    for ranks in widths:
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "latencies.pt")
            arguments = (ranks, _free_port(), file)
            _run(arguments, longest_s)
            found = torch.load(file, weights_only=True)
        for (operation, size), samples in found.items():
            quarters = statistics.quantiles(samples, n=4)
            yield {
                "operation": operation,
                "precision": "bf16",
                "ranks": ranks,
                "message_bytes": size,
                "latency_s": statistics.median(samples),
                "spread_s": (quarters[2] - quarters[0]) / 2,
                "repeats": len(samples),
                "captured": False,
                "kernel": "nccl",
            }


def _run(arguments: tuple[int, int, str], longest_s: float) -> None:
    """Run the ranks to their end; end them where they are stuck, or where this process stops."""
    ranks = arguments[0]
    running = torch.multiprocessing.spawn(_rank, args=arguments, nprocs=ranks, join=False)
    give_up_s = time.monotonic() + longest_s
    try:
        while not running.join(timeout=1.0):
            if time.monotonic() > give_up_s:
                raise RuntimeError(f"NCCL over {ranks} GPUs did not end in {longest_s:.0f} s")
    finally:
        for process in running.processes:
            if process.is_alive():
                process.kill()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _rank(rank: int, ranks: int, port: int, file: str) -> None:
    """Run in each process: time all sizes of all collectives, and let rank 0 write them down."""
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    address = f"tcp://127.0.0.1:{port}"
    dist.init_process_group("nccl", init_method=address, rank=rank, world_size=ranks)
    found: dict[tuple[str, int], list[float]] = {}
    for size in SIZES:
        whole = torch.zeros(size // 2, device="cuda", dtype=torch.bfloat16)
        part = torch.zeros(size // 2 // ranks, device="cuda", dtype=torch.bfloat16)
        other = torch.zeros_like(whole)
        calls = {
            "all_reduce": lambda: dist.all_reduce(whole),  # noqa: B023  # used before it changes
            "all_gather": lambda: dist.all_gather_into_tensor(whole, part),  # noqa: B023
            "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, whole),  # noqa: B023
            "all_to_all": lambda: dist.all_to_all_single(other, whole),  # noqa: B023
        }
        for name, call in calls.items():
            found[name, size] = _samples_s(call)
    if rank == 0:
        torch.save(found, file)
    dist.destroy_process_group()


def _samples_s(call: Any, calls: int = 20) -> list[float]:  # noqa: ANN401  # any of the lambdas
    """Time of one call, a sample a round of so many, one after the other [s]."""
    samples = []
    for _ in range(REPEATS + 2):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(calls):
            call()
        end.record()
        torch.cuda.synchronize()
        samples.append(float(start.elapsed_time(end)) / 1e3 / calls)
    return samples[2:]
