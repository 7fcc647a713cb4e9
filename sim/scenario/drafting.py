"""The drafter of a scenario as a model of its own: its layers, how they are laid out, its cost."""

from dataclasses import dataclass, replace

from sim.cost import DraftMemory, draft_memory, unshared_heads
from sim.decoding import EagleDraft, MedusaDraft, ModelDraft, OwnDraft
from sim.deployment import Deployment
from sim.errors import InputError
from sim.hardware import GpuProfile
from sim.model import DenseMlp, GroupedQuery, Layer, LayerGroup, Model, load_model
from sim.scenario.schema import Scenario
from sim.units import US_PER_S

_TABLES = 2
"""Embedding and LM head."""


@dataclass(frozen=True, slots=True)
class Drafter:
    """A drafter with layers of its own."""

    model: Model
    deployment: Deployment
    memory: DraftMemory
    host_s_per_pass: float


def drafter_of(scenario: Scenario, target: Model, gpu: GpuProfile) -> Drafter | None:
    """Return the drafter of a scenario's strategy; None where it has no layers of its own."""
    given, work = scenario.decoding.drafting, scenario.decoding.draft_work
    if work is None or not isinstance(given, OwnDraft):
        return None
    tokens = getattr(scenario.decoding, "draft_tokens", 1)
    model = _model(given, target, tokens)
    deployment = _deployment(given, scenario.deployment, model)
    shared = 0 if isinstance(given, ModelDraft) else 1
    own_head = isinstance(given, MedusaDraft) or getattr(given, "vocab_size", None) is not None
    memory = draft_memory(
        *(model, gpu, deployment),
        shared_tables=0 if not shared or own_head else 1,
        prefills=work.prefills,
    )
    return Drafter(model, deployment, memory, given.host_us_per_pass / US_PER_S)


def _model(given: OwnDraft, target: Model, tokens: int) -> Model:
    if isinstance(given, ModelDraft):
        return _other_model(given, target)
    if isinstance(given, MedusaDraft):
        return _heads(target, tokens)
    hidden = target.hidden_size
    layer = _layer_of(given, target)
    width = hidden  # a projection of token and hidden state: 2h x h = 2 h (h)
    if isinstance(given, EagleDraft) and given.version == 3:  # EAGLE-3
        # hidden states of three layers are fused (3h x h), and q, k and v see 2h
        entry = _entry_elements(layer, hidden)
        width = -(-(3 * hidden * hidden + entry) // (2 * hidden))
    fusion = Layer(None, DenseMlp(width, gated=False), 0)
    vocab = getattr(given, "vocab_size", None) or target.vocab_size
    if vocab > target.vocab_size:
        raise InputError(
            f"a drafter of {vocab:,} tokens drafts what {target.name}, with {target.vocab_size:,},"
            " does not know",
            where="decoding.draft.vocab_size",
            remedy=f"use {target.vocab_size:,} at most",
        )
    return _small(
        target,
        f"{given.kind} drafter of {target.name}",
        (LayerGroup(fusion, 1), LayerGroup(layer, given.layers)),
        vocab,
    )


def _small(target: Model, name: str, groups: tuple[LayerGroup, ...], vocab: int) -> Model:
    """Return a model of the target's width with one table: the LM head."""
    return replace(
        target,
        name=name,
        groups=groups,
        vocab_size=vocab,
        tied_embeddings=True,
        source=f"layers of {target.name}",
        vision_parameters=0,
        mtp_parameters=0,
        other_elements=0,
        head_bias_elements=0,
    )


def _heads(target: Model, heads: int) -> Model:
    """Return Medusa heads: a residual block h x h and an LM head each."""
    block = Layer(None, DenseMlp(-(-target.hidden_size // 2), gated=False), 0)
    groups = (LayerGroup(block, heads),)
    return _small(target, f"Medusa heads of {target.name}", groups, heads * target.vocab_size)


def _layer_of(given: OwnDraft, target: Model) -> Layer:
    """Return a layer of the target's last kind that attends to all tokens, if there is one."""
    groups = [group.layer for group in target.groups if group.layer.kv_elements_per_token]
    plain = [layer for layer in groups if layer.window_tokens is None] or groups
    if not plain:
        raise InputError(
            f"{target.name} has no attention layer that a {given.kind} drafter could copy",
            where="decoding.draft",
            remedy="use a draft `model`, `medusa` or `ngram`",
        )
    layer = plain[-1]
    width = getattr(given, "intermediate_size", None)
    if width is not None:
        return replace(layer, mlp=DenseMlp(width))
    if isinstance(given, EagleDraft) and not isinstance(layer.mlp, DenseMlp):
        raise InputError(
            f"{target.name} has experts, and an EAGLE layer has a dense MLP",
            where="decoding.draft.intermediate_size",
            remedy="give the width of the drafter's MLP",
        )
    return layer


def _entry_elements(layer: Layer, hidden: int) -> int:
    """Weights of the projections into an attention layer."""
    mixer = layer.mixer
    if isinstance(mixer, GroupedQuery):
        return mixer.query_elements(hidden) + mixer.key_value_elements(hidden)
    return mixer.matrix_elements(hidden) // 2 if mixer is not None else 0


def _other_model(given: ModelDraft, target: Model) -> Model:
    model = load_model(given.model)
    if model.vocab_size != target.vocab_size:
        raise InputError(
            f"{model.name} has a vocabulary of {model.vocab_size:,} tokens and {target.name}"
            f" one of {target.vocab_size:,}, so its drafts mean nothing to it",
            where="decoding.draft.model",
            remedy="use a model of the same family",
        )
    if "autoregressive" not in model.decoding:
        raise InputError(
            f"{model.name} is a diffusion model and cannot draft token by token",
            where="decoding.draft.model",
            remedy="use an autoregressive one",
        )
    return model


def _deployment(given: OwnDraft, target: Deployment, model: Model) -> Deployment:
    """Lay the drafter out on the target's GPUs, without pipeline stages."""
    ranks = given.tensor_parallel or target.tensor_parallel
    if ranks > target.tensor_parallel:
        raise InputError(
            f"{ranks} GPUs for the drafter are more than the {target.tensor_parallel} that share"
            " the served model",
            where="decoding.draft.tensor_parallel",
            remedy=f"use {target.tensor_parallel} at most",
        )
    if unshared_heads(model, ranks) is not None:
        raise InputError(
            f"{ranks} GPUs cannot share the heads of {model.name}",
            where="decoding.draft.tensor_parallel",
            remedy="name fewer, such as 1",
        )
    experts = any(hasattr(group.layer.mlp, "experts") for group in model.groups)
    changes = {
        "tensor_parallel": ranks,
        "pipeline_parallel": 1,
        "expert_parallel": target.expert_parallel if experts else 1,
        "weights": given.weights or target.weights,
        "kv_precision": given.kv_precision or target.kv_precision,
        "checkpoint_gb": None,
        "num_gpu_blocks": None,
    }
    if given.weights is not None:
        changes["compute"] = None
    if experts and (ranks * target.attention_data_parallel) % target.expert_parallel:
        changes["expert_parallel"] = 1
    return target.model_copy(update=changes)
