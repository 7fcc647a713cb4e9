"""A row of a table of measured runs, for whoever has none: the values are made up."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

_CELLS: Final = MappingProxyType(
    {
        "case": "run-1",
        "model": "llama-3.1-8b",
        "gpu": "h100_sxm",
        "engine": "vllm",
        "weights": "fp8",
        "tensor_parallel": "1",
        "expert_parallel": "1",
        "attention_data_parallel": "1",
        "replicas": "1",
        "concurrency": "16",
        "requests_per_s": "4",
        "num_prompts": "160",
        "input_tokens": "1024",
        "output_tokens": "256",
        "ttft_ms": "85.2",
        "tpot_ms": "7.9",
        "itl_ms": "7.9",
    }
)


def example_row(header: Sequence[str]) -> str:
    """Return a row under some columns; empty where a column is not known.

    >>> example_row(["model", "requests_per_s", "comment", "ttft_ms"])
    'llama-3.1-8b,4,,85.2'
    """
    return ",".join(_CELLS.get(name, "") for name in header)
