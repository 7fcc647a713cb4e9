"""Bytes of the weights on one GPU of a replica."""

from math import ceil

from sim.cost.layers import layers_of
from sim.cost.layout import Layout
from sim.cost.work import ACTIVATION_BYTES
from sim.deployment import Deployment
from sim.hardware import GpuProfile
from sim.model import DenseMlp, Experts, Layer, Model
from sim.units import GB


def weight_bytes_per_gpu(model: Model, gpu: GpuProfile, deployment: Deployment) -> float:
    """Return the weights on the fullest GPU: its share of the matrices and tables, the rest whole.

    Embedding, LM head, norms, biases and vision stay in 16 bits. A checkpoint size of the user's
    own (`deployment.checkpoint_gb`) replaces the count and is split evenly.
    """
    layout, layers = Layout.of(deployment), layers_of(model, gpu, deployment)
    if deployment.checkpoint_gb is not None:
        return deployment.checkpoint_gb * GB / (layout.stage_gpus * layout.pipeline)
    total = sum(
        count * gemm.weight_elements * gemm.format.weight_bytes for gemm, count in layers.gemms
    )
    for mlp, count in layers.experts:
        own = mlp.experts / layout.expert / layout.expert_tensor
        one = mlp.expert_elements(model.hidden_size) * layers.expert_format.weight_bytes
        total += count * own * (one + mlp.bias_elements * ACTIVATION_BYTES)
    small = sum(group.count * _small_elements(group.layer, model) for group in model.groups)
    total = (total + small * ACTIVATION_BYTES) * stage_share(model, layout)
    tables = 1 if model.tied_embeddings or layout.pipeline > 1 else 2
    total += tables * layers.head.weight_elements * ACTIVATION_BYTES
    ends = model.final_norm_elements + model.other_elements + model.head_bias_elements
    return total + (ends + model.vision_parameters / layout.tensor) * ACTIVATION_BYTES


def _small_elements(layer: Layer, model: Model) -> int:
    """Norms, biases, convolutions: whatever is no matrix of a product; on every rank."""
    mlp, small = layer.mlp, layer.norm_elements
    if layer.mixer is not None:
        small += layer.mixer.other_elements
    if isinstance(mlp, DenseMlp):
        small += mlp.bias_elements
    elif isinstance(mlp, Experts):
        small += mlp.router_elements - model.hidden_size * mlp.experts
        small += model.hidden_size * mlp.shared_gate
    return small


def stage_share(model: Model, layout: Layout) -> float:
    """Return the share of the layers on the longest pipeline stage."""
    return ceil(model.num_layers / layout.pipeline) / model.num_layers
