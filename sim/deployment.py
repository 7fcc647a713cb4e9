"""How the model is laid out over GPUs: the `deployment` part of a scenario."""

from collections.abc import Mapping
from typing import Annotated, Final

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict

from sim.precision import BYTES_PER_WEIGHT, Precision

__all__ = ["BYTES_PER_ELEMENT", "Deployment", "Precision"]

BYTES_PER_ELEMENT: Final[Mapping[Precision, float]] = BYTES_PER_WEIGHT
"""Bytes of a weight or of an element of the KV cache, its share of scales included."""

Width = Annotated[int, Ge(1), Le(8)]


class Deployment(BaseModel):
    """Parallelism, precision and batch limits of each replica."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tensor_parallel: Width = 1
    """GPUs that share each layer of one replica."""
    pipeline_parallel: Annotated[int, Ge(1), Le(1)] = 1
    expert_parallel: Annotated[int, Ge(1), Le(1)] = 1
    attention_data_parallel: Annotated[int, Ge(1), Le(1)] = 1
    replicas: Annotated[int, Ge(1), Le(4096)] = 1
    weights: Precision = "bf16"
    kv_precision: Precision = "bf16"
    max_sequences: Annotated[int, Ge(1), Le(65536)] = 256
    """Most requests that run at once on one replica."""
    max_batched_tokens: Annotated[int, Ge(1), Le(1 << 20)] = 8192
    """Query positions that one pass may hold (the token budget)."""
    memory_fraction: Annotated[float, Gt(0), Le(1)] = 0.9
    """Share of GPU memory that the engine may use."""
    num_gpu_blocks: Annotated[int, Ge(1)] | None = None
    """Size of the KV pool in blocks, where it is known; replaces the memory calculation."""
    block_tokens: Annotated[int, Ge(1), Le(1024)] = 16
    """Tokens in one KV block."""

    @property
    def gpus_per_replica(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.pipeline_parallel * self.attention_data_parallel

    @property
    def gpus(self) -> int:
        """GPUs in all."""
        return self.gpus_per_replica * self.replicas
