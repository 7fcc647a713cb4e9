"""The device under test: how to wait for it, how to time it, and what is cold there.

A CPU is one thread of it, by that thread's own time.
"""

import time
from collections.abc import Callable
from typing import Any

import torch

Call = Callable[[int], Any]
"""A kernel, on the i-th set of its inputs."""


class Device:
    """Where it runs: how to wait, how to time, what is cold."""

    def __init__(self, kind: str) -> None:
        self.kind, self.cuda, self.name = kind, kind == "cuda", "cpu"
        self.memory_bytes, self.cache_bytes, self.capability = float(1 << 28), 16 << 20, (0, 0)
        self.uuid: str | None = None
        if not self.cuda:
            torch.set_num_threads(1)
        if self.cuda:
            found = torch.cuda.get_device_properties(0)
            self.name, self.memory_bytes = found.name, 0.6 * torch.cuda.mem_get_info()[0]
            self.cache_bytes = getattr(found, "L2_cache_size", 50 << 20)
            self.capability = (found.major, found.minor)
            self.uuid = str(found.uuid) if hasattr(found, "uuid") else None

    @property
    def half(self) -> str:
        """The format that models are served in: Volta and Turing have no units for bf16."""
        if not self.cuda:
            return "fp32"  # bf16 is emulated on most of them
        return "bf16" if self.capability >= (8, 0) else "fp16"

    @property
    def precisions(self) -> tuple[str, ...]:
        """What products run in here: fp8 from Ada and Hopper on, int8 from Turing on."""
        if not self.cuda:
            return (self.half,)
        fp8 = self.capability >= (8, 9) and hasattr(torch, "_scaled_mm")
        int8 = self.capability >= (7, 5) and hasattr(torch, "_int_mm")
        return (self.half, *(("fp8",) if fp8 else ()), *(("int8",) if int8 else ()))

    def sets(self, set_bytes: float) -> int:
        """How many sets of inputs outlast the cache, within memory."""
        wanted = int(2.5 * self.cache_bytes / set_bytes) + 2
        return max(1, min(wanted, 256, int(self.memory_bytes / set_bytes)))

    def loop_s(self, call: Call, calls: int) -> float:
        """Time of one of so many calls, one after the other [s]."""
        if not self.cuda:
            started = time.thread_time()  # of this one thread: others may keep the machine busy
            for i in range(calls):
                call(i)
            return (time.thread_time() - started) / calls
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for i in range(calls):
            call(i)
        end.record()
        torch.cuda.synchronize()
        return float(start.elapsed_time(end)) / 1e3 / calls

    def samples_s(self, call: Call, sets: int, *, captured: bool) -> list[float]:
        """Latencies of one call, a sample a round over all the rotated inputs [s]."""
        for i in range(3):  # warm-up: libraries choose and load their kernels now
            call(i % sets)
        first = max(1e-7, self.loop_s(lambda i: call(i % sets), 3))  # clocks tick
        if self.cuda and captured:
            rounds = max(5, min(15, int(0.3 / (first * sets))))
            graph, calls = torch.cuda.CUDAGraph(), sets * max(1, int(5e-3 / (first * sets)))
            with torch.cuda.graph(graph):
                for i in range(calls):
                    call(i % sets)
            return [self.loop_s(lambda _: graph.replay(), 1) / calls for _ in range(2 + rounds)][
                2:
            ]
        calls = max(3, int(5e-3 / first))  # each round goes on where the last one stopped

        def a_round(at: int) -> float:
            return self.loop_s(lambda i: call((at + i) % sets), calls)

        rounds = max(7, min(15, int(0.1 / (first * calls))))
        return [a_round(calls * place) for place in range(rounds)]

    def host_samples_s(self, call: Call, calls: int = 200) -> list[float]:
        """Time that the host needs to start one kernel, without waiting for it [s]."""
        samples = []
        for _ in range(22):
            started = time.perf_counter()
            for i in range(calls):
                call(i)
            samples.append((time.perf_counter() - started) / calls)
            if self.cuda:
                torch.cuda.synchronize()
        return samples[2:]


def numbers(device: Device, *shape: int, precision: str) -> torch.Tensor:
    """Random numbers: a GPU draws less power, and runs faster, on zeros."""
    if precision == "int8":
        return torch.randint(-100, 100, shape, device=device.kind, dtype=torch.int8)
    kinds = {"bf16": "bfloat16", "fp16": "float16", "fp8": "float8_e4m3fn", "fp32": "float32"}
    return torch.randn(shape, device=device.kind).to(getattr(torch, kinds[precision]))
