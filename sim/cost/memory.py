"""What fits on a GPU: weights, reserve, and what is left for the KV pool."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor

from sim.cost.attention import INDEXER_BYTES
from sim.cost.dense import STATE_BYTES
from sim.cost.drafter import DraftMemory, Extra
from sim.cost.kv_shape import KvShape
from sim.cost.layers import layers_of
from sim.cost.layout import Layout, unshared_heads
from sim.cost.weights import stage_share, weight_bytes_per_gpu
from sim.cost.work import ACTIVATION_BYTES
from sim.deployment import Deployment
from sim.errors import DoesNotFitError
from sim.hardware import EngineProfile, GpuProfile
from sim.model import GroupedQuery, Model
from sim.model.breakdown import formats_label
from sim.precision import BYTES_PER_WEIGHT

_WIDEST = 8
"""GPUs of one replica that share a layer, at most."""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Bytes on each GPU of a replica, and the KV pool that they leave."""

    usable_bytes: float
    """What weights, reserve and KV pool may take of a GPU."""
    weight_bytes: float
    draft_weight_bytes: float
    reserve_bytes: float
    kv_bytes_per_token: float
    """On one GPU, drafter included, for a token that all layers keep."""
    state_bytes_per_sequence: float
    """Recurrent state of one sequence on one GPU."""
    kv: KvShape
    """The pool of the replica."""
    block_bytes: float
    """One KV block on one GPU."""

    @property
    def blocks(self) -> int:
        """KV blocks of the replica."""
        return self.kv.blocks

    @property
    def block_tokens(self) -> int:
        """Tokens in one block."""
        return self.kv.block_tokens

    @property
    def pool_tokens(self) -> int:
        """KV tokens that fit, if one sequence held them all."""
        return self.kv.tokens_of_one_sequence


def draft_memory(
    model: Model, gpu: GpuProfile, deployment: Deployment, *, shared_tables: int, prefills: bool
) -> DraftMemory:
    """Return what a drafter keeps; `shared_tables` of its embedding and LM head are the target's.

    One that goes through no prompt keeps no KV.
    """
    weights = weight_bytes_per_gpu(model, gpu, deployment)
    head = layers_of(model, gpu, deployment).head.weight_elements
    weights -= shared_tables * head * ACTIVATION_BYTES
    if not prefills:
        return DraftMemory(weights, 0.0)
    full, windows, state = _kv_bytes(model, deployment, 0.0)
    return DraftMemory(weights, full, tuple(sorted(windows.items())), state)


def _kv_bytes(
    model: Model, deployment: Deployment, draft_share: float
) -> tuple[float, dict[int, float], float]:
    """Bytes on one GPU: per token in layers that keep all, per token by window, per sequence."""
    layout, width = Layout.of(deployment), BYTES_PER_WEIGHT[deployment.kv_precision]
    full, windows = 0.0, dict[int, float]()
    for mixer, count in model.attention_groups():
        if isinstance(mixer, GroupedQuery):
            one = layout.kv_heads(mixer.kv_heads) * (mixer.head_dim + mixer.value_dim) * width
            if mixer.window_tokens is not None:
                known = windows.get(mixer.window_tokens, 0.0)
                windows[mixer.window_tokens] = known + count * one
                continue
        else:  # the latent is needed whole on every rank
            one = mixer.kv_elements_per_token * width
            one += mixer.indexer_elements_per_token * INDEXER_BYTES
        full += count * one
    state = model.state_elements_per_sequence * STATE_BYTES / layout.tensor
    share = stage_share(model, layout) * (1.0 + draft_share)
    return full * share, {w: value * share for w, value in windows.items()}, state * share


def plan_memory(
    model: Model,
    gpu: GpuProfile,
    engine: EngineProfile,
    deployment: Deployment,
    *,
    draft_share: float = 0.0,
    drafter: DraftMemory | None = None,
) -> MemoryPlan:
    """Return what fits, or raise `DoesNotFitError` with the amount and two ways out.

    `draft_share` is the drafter's weights and KV as a share of the served model's (an assumption
    for drafters that are described only by their work); `drafter` is what one with layers of its
    own keeps.
    """
    extra = Extra(draft_share, drafter or DraftMemory(0.0, 0.0))
    plan, left = _plan(model, gpu, engine, deployment, extra)
    if plan is None:
        usable = _usable_bytes(gpu, engine, deployment, gpu.memory_bytes.value)
        ways = _ways_out(model, gpu, engine, deployment, extra)
        gpus = deployment.gpus_per_replica
        raise DoesNotFitError(
            what=f"{model.name} ({_stored(model, deployment)}) on {gpus} {gpu.name}",
            need_bytes=usable - left,
            have_bytes=usable,
            remedy=" or ".join([*ways, "choose a GPU with more memory"][:2]),
            draft_bytes=_draft_bytes(model, gpu, deployment, extra),
        )
    return plan


def _stored(model: Model, deployment: Deployment) -> str:
    """Return the format of the weights, and how the model is published where that is another."""
    published = formats_label(model)
    if deployment.weights == "checkpoint":
        return f"as published, {published}"
    same = published in {deployment.weights, "bf16"}
    return deployment.weights if same else f"{deployment.weights}, published as {published}"


def _draft_bytes(model: Model, gpu: GpuProfile, deployment: Deployment, extra: Extra) -> float:
    """Return the weights of the drafter on one GPU, B."""
    return extra.share * weight_bytes_per_gpu(model, gpu, deployment) + extra.drafter.weight_bytes


def _usable_bytes(
    gpu: GpuProfile, engine: EngineProfile, deployment: Deployment, taken_bytes: float
) -> float:
    """Return what weights, reserve and KV pool may take of one GPU by the engine's rule, B."""
    whole = gpu.memory_bytes.value
    fraction = deployment.memory_fraction or engine.memory_fraction
    if engine.memory_rule == "share_of_memory":
        return fraction * whole
    free = whole - taken_bytes  # TensorRT-LLM takes its share of what the rest leaves
    return taken_bytes + fraction * free if free > 0 else whole


def _plan(
    model: Model,
    gpu: GpuProfile,
    engine: EngineProfile,
    deployment: Deployment,
    extra: Extra,
) -> tuple[MemoryPlan | None, float]:
    """Return the plan, or None and the bytes that are left (negative: missing)."""
    weights = weight_bytes_per_gpu(model, gpu, deployment)
    draft_weights = _draft_bytes(model, gpu, deployment, extra)
    taken = weights + draft_weights + engine.memory_reserve_bytes
    usable = _usable_bytes(gpu, engine, deployment, taken)
    left = usable - taken
    full, windows, state = _kv_bytes(model, deployment, extra.share)
    full += extra.drafter.kv_bytes_per_token
    state += extra.drafter.state_bytes_per_sequence
    for window, more in extra.drafter.window_bytes_per_token:
        windows[window] = windows.get(window, 0.0) + more
    size = deployment.block_tokens
    unit = size * (full or max(windows.values(), default=0.0)) or max(state, 1.0)
    blocks = deployment.num_gpu_blocks or floor(left / unit)
    shape = KvShape(
        blocks=max(0, blocks) * deployment.attention_data_parallel,
        block_tokens=size,
        full=1.0 if full else 0.0,
        windows=tuple((w, size * value / unit) for w, value in sorted(windows.items())),
        sequence_blocks=state / unit,
    )
    if left < 0 or shape.blocks < max(1.0, shape.blocks_for(1.0)):
        return None, min(left, 0.0) - unit
    plan = MemoryPlan(
        usable_bytes=usable,
        weight_bytes=weights,
        draft_weight_bytes=draft_weights,
        reserve_bytes=engine.memory_reserve_bytes,
        kv_bytes_per_token=full + sum(windows.values()),
        state_bytes_per_sequence=state,
        kv=shape,
        block_bytes=unit,
    )
    return plan, left


def _allowed(model: Model, gpu: GpuProfile, deployment: Deployment) -> bool:
    """Whether a layout goes with the model's heads and with the GPU's node and network."""
    stage = deployment.tensor_parallel * deployment.attention_data_parallel
    node, network = gpu.gpus_per_node.value, gpu.network_one_way_bytes_per_s
    return (
        stage <= _WIDEST
        and (deployment.gpus_per_replica <= node or network is not None)
        and unshared_heads(model, deployment.tensor_parallel) is None
    )


def _ways_out(
    model: Model,
    gpu: GpuProfile,
    engine: EngineProfile,
    deployment: Deployment,
    extra: Extra,
) -> Iterator[str]:
    """Yield changes after which it fits: fewest GPUs first, then least loss of precision."""
    nothing = Extra(0.0, DraftMemory(0.0, 0.0))
    if extra != nothing and _plan(model, gpu, engine, deployment, nothing)[0] is not None:
        yield "choose a smaller drafter"
    ranks = deployment.tensor_parallel
    now = weight_bytes_per_gpu(model, gpu, deployment)
    while True:
        wider = deployment.model_copy(update={"tensor_parallel": ranks})
        if not _allowed(model, gpu, wider):
            return
        for weights in (deployment.weights, "checkpoint", "fp8", "int4"):
            asked = wider.model_copy(update={"weights": weights})
            if weights != deployment.weights:
                asked = asked.model_copy(update={"checkpoint_gb": None})
            smaller = weight_bytes_per_gpu(model, gpu, asked) < now
            if smaller and _plan(model, gpu, engine, asked, extra)[0] is not None:
                changes = []
                if ranks != deployment.tensor_parallel:
                    changes.append(f"`deployment.tensor_parallel: {ranks}`")
                if weights != deployment.weights:
                    changes.append(f"`deployment.weights: {weights}`")
                yield f"set {' and '.join(changes)}"
                break
        ranks *= 2
