"""The kernels to time: products, attention, copies, launches; each makes its own inputs."""

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812  # its usual name

from calibration.collect.device import Call, Device, numbers

PRODUCTS = ((4096, 4096), (6144, 4096), (4096, 14336), (28672, 4096), (8192, 8192), (1024, 8192))
"""(N, K) of products where no model is named: those of 8 and 70 billion parameters."""
HEADS = (32, 8, 128)
"""Query heads, KV heads, head width."""


class Case(NamedTuple):
    """One kernel to time: `make(sets)` returns a call that uses the i-th set of inputs."""

    operation: str
    precision: str
    shape: dict[str, Any]
    set_bytes: float
    make: Callable[[int], Call]


def gemm(device: Device, shape: tuple[int, int, int], precision: str) -> Case:
    """A product of (m, k) and (k, n), by m, n, k; fp8 with one scale a tensor, out in bf16."""
    m, n, k = shape

    def make(sets: int) -> Call:
        a = [numbers(device, m, k, precision=precision) for _ in range(sets)]
        b = [numbers(device, n, k, precision=precision).t() for _ in range(sets)]
        multiply: Any = torch.mm
        if precision == "int8":
            multiply = torch._int_mm  # noqa: SLF001  # the only doors that torch has to them
        elif precision == "fp8":
            scaled: Any = torch._scaled_mm  # noqa: SLF001
            scale = {"scale_a": torch.ones((), device=device.kind)}
            scale["scale_b"] = scale["scale_a"]
            return lambda i: scaled(a[i], b[i], out_dtype=torch.bfloat16, **scale)
        return lambda i: multiply(a[i], b[i])

    size = {"bf16": 2, "fp16": 2, "fp32": 4}.get(precision, 1)
    held = size * (m * k + n * k) + 4 * m * n
    return Case("gemm", precision, {"tokens": m, "outer": n, "inner": k}, held, make)


def attention(
    device: Device, batch: int, query: int, context: int, heads: tuple[int, ...]
) -> Case:
    """Scaled dot-product attention: one query a sequence, or a causal prompt."""
    (mine, kv, width), precision = heads, device.half
    grouped = {"enable_gqa": True} if kv != mine else {}  # torch 2.5 on

    def make(sets: int) -> Call:
        sizes = [(mine, query), (kv, context), (kv, context)]
        q, k, v = (
            [numbers(device, batch, *size, width, precision=precision) for _ in range(sets)]
            for size in sizes
        )
        return lambda i: F.scaled_dot_product_attention(
            q[i], k[i], v[i], is_causal=query > 1, **grouped
        )

    shape = {"sequences": batch, "query_tokens": query, "context_tokens": context, "heads": mine}
    shape |= {"kv_heads": kv, "head_dim": width, "value_dim": width}
    held = (2 if device.cuda else 4) * batch * width * (2 * kv * context + 2 * mine * query)
    name = "prefill_attention" if query > 1 else "decode_attention"
    return Case(name, precision, {**shape, "kv_precision": precision}, held, make)


def copy(device: Device, size: int) -> Case:
    """A copy inside the memory of the device: reads and writes so many bytes."""

    def make(sets: int) -> Call:
        a = [torch.ones(size, device=device.kind, dtype=torch.uint8) for _ in range(sets)]
        b = [torch.empty_like(one) for one in a]
        return lambda i: b[i].copy_(a[i])

    return Case("copy", "int8", {"message_bytes": size}, 2 * size, make)


def launch(device: Device, operation: str) -> Case:
    """A kernel of one number: what starting it costs, on the GPU or on the host."""

    def make(_: int) -> Call:
        one = torch.zeros(1, device=device.kind)
        return lambda _i: one.add_(1)

    return Case(operation, "fp32", {}, 1e9, make)


def plan(
    device: Device, products: tuple[tuple[int, int], ...], heads: tuple[int, ...]
) -> list[Case]:
    """All cases in an order that covers every operation early: a stop leaves a fair sample."""
    big = device.cuda
    rows = [1 << i for i in range(14 if big else 9)] + [24, 48, 96, 192, 384][: 5 if big else 3]
    if not big:
        products = tuple((max(128, n // 8), max(128, k // 8)) for n, k in products)
    products = tuple(dict.fromkeys(products))  # a kernel timed twice would be refused
    gemms = {
        precision: [gemm(device, (m, n, k), precision) for m in rows for n, k in products
                    if precision != "int8" or m > 16]
        for precision in device.precisions
    }  # fmt: skip
    contexts = (512, 1024, 2048, 4096, 8192, 16384) if big else (64, 128, 256, 512, 1024)
    batches = (1, 4, 8, 16, 32, 64, 128) if big else (1, 2, 4, 8)
    decode = [
        attention(device, b, 1, s, heads) for b in batches for s in contexts if b * s <= 1 << 20
    ]
    prompts = (128, 256, 512, 1024, 2048, 4096, 8192) if big else (32, 64, 128, 256, 512)
    prefill = [attention(device, b, s, s, heads) for b in (1, 2, 4) for s in prompts]
    copies = [copy(device, 1 << i) for i in (range(20, 31) if big else range(20, 27))]
    starts = ("launch", "launch_captured", "host_launch") if big else ("host_launch",)
    queues: list[list[Case]] = [*gemms.values(), decode, prefill]
    for queue in queues:
        random.Random(0).shuffle(queue)  # noqa: S311  # an order, not a secret
    places = [(i / len(queue), case) for queue in queues for i, case in enumerate(queue)]
    spread = [case for _, case in sorted(places, key=lambda place: place[0])]
    return [*(launch(device, name) for name in starts), *copies, *spread]
