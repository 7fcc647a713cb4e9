"""Kernel timings: one row a kernel, in SI units, whoever measured it.

Version 1. Columns that do not apply to an operation are null. The shape of a kernel is what one
GPU computes: heads, widths and experts after the split over ranks, tokens as the kernel sees them.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

VERSION: Final = 1
"""Of this schema; a file says which it follows in its Parquet metadata, under `VERSION_KEY`."""
VERSION_KEY: Final = "paretoken_timings_version"

OperationName = Literal[
    "gemm",
    "decode_attention",
    "prefill_attention",
    "latent_attention",
    "latent_prefill",
    "experts",
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "copy",
    "launch",
    "launch_captured",
    "host_launch",
]
OPERATIONS: Final[tuple[OperationName, ...]] = get_args(OperationName)
"""The last four describe a machine and are kept, but no profile is fitted on them: `copy` is a
copy inside GPU memory, `launch` an empty kernel, alone and inside a CUDA graph, and `host_launch`
what the host spends on starting one."""
MXFP8: Final = "mxfp8"
"""How the name of a kernel ends that multiplies MXFP4 weights with activations in MXFP8."""


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """One column: its kind, whether every row has it, and what it means."""

    kind: Literal["text", "integer", "number", "flag"]
    doc: str
    required: bool = False


COLUMNS: Final = MappingProxyType(
    {
        "operation": ColumnSpec(
            "text", "what the kernel does, one of `OPERATIONS`", required=True
        ),
        "precision": ColumnSpec(
            "text",
            "format of the weights (gemm, experts), of the arithmetic (attention), of the message",
            required=True,
        ),
        "kv_precision": ColumnSpec("text", "format of the KV cache; attention only"),
        "gpu": ColumnSpec("text", "name of a hardware profile, or `cpu`", required=True),
        "engine": ColumnSpec(
            "text", "whose kernel: vllm, sglang, trtllm, nccl, torch", required=True
        ),
        "engine_version": ColumnSpec("text", "version of that engine or library", required=True),
        "kernel": ColumnSpec(
            "text",
            "name of the implementation; ends in `mxfp8` where MXFP4 meets such activations",
        ),
        "latency_s": ColumnSpec("number", "time of one call, s", required=True),
        "spread_s": ColumnSpec("number", "half of the interquartile range of the calls, s"),
        "repeats": ColumnSpec("integer", "calls behind the figure"),
        "captured": ColumnSpec("flag", "timed inside a CUDA graph: no host time in it"),
        "cold": ColumnSpec("flag", "inputs were not read from the L2 cache"),
        "tokens": ColumnSpec("integer", "rows of a product (M); tokens that the experts see"),
        "outer": ColumnSpec("integer", "columns of the product (N)"),
        "inner": ColumnSpec("integer", "length of the dot products (K)"),
        "sequences": ColumnSpec("integer", "sequences of an attention kernel"),
        "query_tokens": ColumnSpec("integer", "query positions of each sequence"),
        "context_tokens": ColumnSpec("integer", "keys of each sequence, the new ones included"),
        "heads": ColumnSpec("integer", "query heads on this GPU"),
        "kv_heads": ColumnSpec("integer", "KV heads on this GPU; 1 for latent attention"),
        "head_dim": ColumnSpec("integer", "width of a query and of a key"),
        "value_dim": ColumnSpec("integer", "width of a value"),
        "window_tokens": ColumnSpec("integer", "how far back a query looks; null: all the way"),
        "experts": ColumnSpec("integer", "experts of the whole layer"),
        "active_experts": ColumnSpec("integer", "experts of one token"),
        "hidden_size": ColumnSpec("integer", "width of the tokens that come in"),
        "intermediate_size": ColumnSpec("integer", "width of one expert before any split"),
        "gated": ColumnSpec("flag", "an expert has three matrices, not two"),
        "tensor_parallel": ColumnSpec("integer", "GPUs that share each expert"),
        "expert_parallel": ColumnSpec("integer", "GPUs over which the experts are spread"),
        "routing": ColumnSpec("text", "how tokens choose: balanced, power_law_1.2, …"),
        "ranks": ColumnSpec("integer", "GPUs of a collective"),
        "message_bytes": ColumnSpec("integer", "the whole tensor of one rank (gathered), B"),
        "driver": ColumnSpec("text", "version of the driver"),
        "library": ColumnSpec("text", "CUDA, torch and library versions"),
        "clock_mhz": ColumnSpec("number", "clock of the GPU while it was timed"),
        "measured_on": ColumnSpec("text", "date, YYYY-MM-DD"),
        "source": ColumnSpec("text", "where the figure comes from", required=True),
    }
)

SHAPES: Final = MappingProxyType(
    {
        "gemm": ("tokens", "outer", "inner"),
        "decode_attention": (
            *("sequences", "query_tokens", "context_tokens"),
            *("heads", "kv_heads", "head_dim", "value_dim"),
        ),
        "prefill_attention": (
            *("sequences", "query_tokens", "context_tokens"),
            *("heads", "kv_heads", "head_dim", "value_dim"),
        ),
        "latent_attention": (
            *("sequences", "query_tokens", "context_tokens", "heads", "head_dim", "value_dim"),
        ),
        "latent_prefill": (
            *("sequences", "query_tokens", "context_tokens", "heads", "head_dim", "value_dim"),
        ),
        "experts": (
            *("tokens", "experts", "active_experts", "hidden_size", "intermediate_size"),
            *("tensor_parallel", "expert_parallel"),
        ),
        "all_reduce": ("ranks", "message_bytes"),
        "all_gather": ("ranks", "message_bytes"),
        "reduce_scatter": ("ranks", "message_bytes"),
        "all_to_all": ("ranks", "message_bytes"),
        "copy": ("message_bytes",),
        "launch": (),
        "launch_captured": (),
        "host_launch": (),
    }
)
"""Columns that a row of each operation must have."""

NOT_IDENTITY: Final = frozenset(
    {"latency_s", "spread_s", "repeats", "clock_mhz", "source", "driver", "library", "measured_on"}
)
"""Two rows that agree in all other columns time the same kernel."""
SHORTEST_S: Final = 2e-7
"""No kernel is quicker than this: a shorter time is a slip of units."""
LONGEST_S: Final = 30.0
"""Nor longer than this."""
