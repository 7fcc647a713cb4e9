"""What fits on a GPU: weights, reserve, and what is left for the KV pool."""

from dataclasses import dataclass
from math import floor

from sim.cost.work import ACTIVATION_BYTES, head_gemm, layer_gemms, rank_shape
from sim.deployment import BYTES_PER_ELEMENT, Deployment
from sim.errors import DoesNotFitError
from sim.hardware import EngineProfile, GpuProfile
from sim.model import Model


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes on each GPU of a replica, and the KV pool that they leave."""

    usable_bytes: float
    weight_bytes: float
    draft_weight_bytes: float
    reserve_bytes: float
    kv_bytes_per_token: float
    """On one rank, drafter included."""
    blocks: int
    """KV blocks of the replica (each rank holds its share of every block)."""
    block_tokens: int

    @property
    def pool_tokens(self) -> int:
        """KV tokens that fit."""
        return self.blocks * self.block_tokens


def weight_bytes_per_rank(model: Model, deployment: Deployment) -> float:
    """Layers at the stored precision, embedding and LM head in bf16, split over the ranks."""
    ranks, width = deployment.tensor_parallel, BYTES_PER_ELEMENT[deployment.weights]
    layer = sum(
        gemm.weight_elements for gemm in layer_gemms(model, ranks, width, ACTIVATION_BYTES)
    )
    head = head_gemm(model, ranks).weight_elements
    tables = head if model.tied_embeddings else 2 * head
    return model.layers * layer * width + tables * ACTIVATION_BYTES


def plan_memory(
    model: Model,
    gpu: GpuProfile,
    engine: EngineProfile,
    deployment: Deployment,
    *,
    draft_share: float = 0.0,
) -> MemoryPlan:
    """Return what fits, or raise `DoesNotFitError` with the amount and two ways out.

    `draft_share` is the drafter's weights and KV as a share of the served model's (an
    assumption for drafters that are described only by their work).
    """
    weights = weight_bytes_per_rank(model, deployment)
    kv_width = BYTES_PER_ELEMENT[deployment.kv_precision]
    kv = rank_shape(model, deployment.tensor_parallel).kv_elements_per_token * kv_width
    kv *= 1.0 + draft_share
    usable = deployment.memory_fraction * gpu.memory_bytes.value
    left = usable - weights * (1.0 + draft_share) - engine.memory_reserve_bytes
    block_bytes = kv * deployment.block_tokens
    blocks = deployment.num_gpu_blocks or floor(left / block_bytes)
    if left < 0 or blocks < 1:
        raise DoesNotFitError(
            what=f"{model.name} ({deployment.weights}) on {deployment.tensor_parallel} {gpu.name}",
            need_bytes=usable - left + block_bytes,
            have_bytes=usable,
            remedy=_ways_out(deployment),
        )
    return MemoryPlan(
        usable_bytes=usable,
        weight_bytes=weights,
        draft_weight_bytes=weights * draft_share,
        reserve_bytes=engine.memory_reserve_bytes,
        kv_bytes_per_token=kv,
        blocks=blocks,
        block_tokens=deployment.block_tokens,
    )


def _ways_out(deployment: Deployment) -> str:
    ways = []
    if deployment.tensor_parallel < 8:
        ways.append(f"raise `deployment.tensor_parallel` to {deployment.tensor_parallel * 2}")
    if deployment.weights == "bf16":
        ways.append("set `deployment.weights: fp8`")
    ways.append("choose a GPU with more memory")
    return " or ".join(ways[:2])
