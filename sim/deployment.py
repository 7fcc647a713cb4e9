"""How the model is laid out over GPUs: the `deployment` part of a scenario."""

from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel, ConfigDict, Field, model_validator

from sim.precision import BYTES_PER_WEIGHT as BYTES_PER_ELEMENT
from sim.precision import Precision
from sim.routers import AnyRouter, RoundRobin

__all__ = ["BYTES_PER_ELEMENT", "MOST_GPUS", "Deployment", "Precision"]

Width = Annotated[int, Ge(1), Le(64)]
MOST_GPUS = 64
"""GPUs of one replica, at most."""


class Deployment(BaseModel):
    """Parallelism, precision and batch limits of each replica."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    tensor_parallel: Width = 1
    """GPUs that share each layer of one replica."""
    pipeline_parallel: Width = 1
    """Stages that hold consecutive layers; as many microbatches follow each other through them."""
    expert_parallel: Width = 1
    """GPUs over which the experts are spread; 1: each expert is split like a dense layer."""
    attention_data_parallel: Width = 1
    """Groups of `tensor_parallel` GPUs, each with sequences, a queue and a KV pool of its own."""
    replicas: Annotated[int, Ge(1), Le(4096)] = 1
    router: AnyRouter = RoundRobin.model_construct()
    """Which replica gets which request: a name, or `kind` with its settings."""
    prefix_cache: bool = True
    """Keep the KV of prompts for requests that begin alike, as engines do; it acts only where the
    workload says which do, and where KV depends on nothing that stands after it.
    """
    weights: Literal["checkpoint", Precision] = "bf16"
    """Format of the weights; `checkpoint`: as published, part by part."""
    compute: Precision | None = None
    """Format that matrices are multiplied in, where the GPU has it; None: that of the weights."""
    kv_precision: Precision = "bf16"
    checkpoint_gb: Annotated[float, Gt(0), Field(allow_inf_nan=False)] | None = None
    """Size of all weights as you measured it, GB (1e9 bytes); replaces the count in memory."""
    expert_skew: Annotated[float, Ge(0), Le(3)] = 0.0
    """Popularity of the experts: 0 all alike, else expert i gets a share of i^-skew."""
    max_sequences: Annotated[int, Ge(1), Le(65536)] = 256
    """Most requests that run at once on one replica; shared out evenly over its ranks and
    microbatches.
    """
    max_batched_tokens: Annotated[int, Ge(1), Le(1 << 20)] = 8192
    """Query positions that one pass may hold (the token budget); attention-data ranks share it
    evenly.
    """
    memory_fraction: Annotated[float, Gt(0), Le(1)] | None = None
    """Share of GPU memory that the engine may use, counted by its own rule; None: its default."""
    num_gpu_blocks: Annotated[int, Ge(1)] | None = None
    """Size of the KV pool in blocks, where it is known; replaces the memory calculation."""
    block_tokens: Annotated[int, Ge(1), Le(1024)] = 16
    """Tokens in one KV block."""

    @model_validator(mode="after")
    def _the_widths_go_together(self) -> Self:
        stage = self.tensor_parallel * self.attention_data_parallel
        if stage % self.expert_parallel:
            msg = (
                f"spreads experts over {self.expert_parallel} GPUs, but a stage has {stage}"
                " (tensor_parallel x attention_data_parallel): `expert_parallel` should divide it"
            )
            raise ValueError(msg)
        if self.gpus_per_replica > MOST_GPUS:
            msg = f"has {self.gpus_per_replica} GPUs in one replica, more than {MOST_GPUS}"
            raise ValueError(msg)
        return self

    @property
    def gpus_per_replica(self) -> int:
        """GPUs of one replica."""
        return self.tensor_parallel * self.pipeline_parallel * self.attention_data_parallel

    @property
    def gpus(self) -> int:
        """GPUs in all."""
        return self.gpus_per_replica * self.replicas
