"""From names to facts: the model, GPU, engine and cost model of a scenario, cross-checked."""

from dataclasses import dataclass
from functools import lru_cache

from sim.cost import ForwardPass, MemoryPlan, plan_memory, unshared_heads
from sim.deployment import Deployment
from sim.economics.price_list import Quote
from sim.engine import Limits
from sim.errors import InputError
from sim.hardware import (
    EngineProfile,
    FittedProfile,
    GpuProfile,
    load_engine,
    load_fitted,
    load_fitted_named,
    load_gpu,
)
from sim.model import Experts, Model, load_model
from sim.scenario.schema import Scenario


@dataclass(frozen=True, slots=True)
class Serving:
    """Everything that `run` needs besides the traffic."""

    model: Model
    gpu: GpuProfile
    fitted: FittedProfile
    engine: EngineProfile
    cost: ForwardPass
    memory: MemoryPlan
    limits: Limits
    quote: Quote | None


def resolve(scenario: Scenario) -> Serving:
    """Return the facts behind a scenario; raise one sentence where they do not go together."""
    model, gpu = load_model(scenario.model), load_gpu(scenario.hardware)
    engine = load_engine(scenario.engine)
    fitted = _fitted(scenario, gpu, engine)
    deployment, strategy = scenario.deployment, scenario.decoding
    _check_parallelism(scenario, model, gpu)
    _check_lengths(scenario, model)
    _check_strategy(scenario, model)
    draft = strategy.draft_work
    memory = plan_memory(model, gpu, engine, deployment, draft_share=draft.share if draft else 0.0)
    limits = Limits(
        replicas=deployment.replicas,
        max_sequences=deployment.max_sequences,
        max_batched_tokens=deployment.max_batched_tokens,
        kv=memory.kv,
        max_context_tokens=model.max_context_tokens,
    )
    quote = None if scenario.prices is None else scenario.prices.resolve(gpu.name)
    cost = _forward_pass(model, gpu, fitted.model_dump_json(), engine, deployment)
    return Serving(model, gpu, fitted, engine, cost, memory, limits, quote)


def _fitted(scenario: Scenario, gpu: GpuProfile, engine: EngineProfile) -> FittedProfile:
    """Return the kernels of the GPU and engine, or those that the scenario names."""
    if scenario.fitted is None:
        return load_fitted(gpu, engine.requested)
    fitted = load_fitted_named(scenario.fitted)
    if fitted.gpu != gpu.name:
        raise InputError(
            f"{scenario.fitted} was fitted on {fitted.gpu}, and the hardware is {gpu.name}",
            where="fitted",
            remedy="name a profile of the same GPU, or leave it out",
        )
    return fitted


@lru_cache(maxsize=16)
def _forward_pass(
    model: Model, gpu: GpuProfile, fitted_json: str, engine: EngineProfile, deployment: Deployment
) -> ForwardPass:
    """Return the same pricing for the same facts: what it remembers serves the next run too.

    Runs that differ in load or strategy only, as in a sweep or under a slider, share it.
    """
    fitted = FittedProfile.model_validate_json(fitted_json)  # holds dicts, so it is no key itself
    return ForwardPass(model, gpu, fitted, engine, deployment)


def _check_parallelism(scenario: Scenario, model: Model, gpu: GpuProfile) -> None:
    ranks = scenario.deployment.tensor_parallel
    unshared = unshared_heads(model, ranks)
    if unshared is not None:
        widest = max(width for width in (1, 2, 4, 8) if unshared_heads(model, width) is None)
        raise InputError(
            f"{ranks} GPUs cannot share the {unshared[0]} query and {unshared[1]} KV heads"
            f" of {model.name}",
            where="deployment.tensor_parallel",
            remedy=f"use a power of two up to {widest}" if widest > 1 else "use 1",
        )
    _check_experts(scenario, model)
    if scenario.deployment.pipeline_parallel > model.num_layers:
        raise InputError(
            f"{model.name} has only {model.num_layers} layers for"
            f" {scenario.deployment.pipeline_parallel} stages",
            where="deployment.pipeline_parallel",
            remedy="use fewer stages",
        )
    node, gpus = gpu.gpus_per_node.value, scenario.deployment.gpus_per_replica
    if gpus > node and gpu.network_one_way_bytes_per_s is None:
        raise InputError(
            f"a replica of {gpus} GPUs spans nodes of {node:g} {gpu.name}, and the profile names"
            " no network",
            where="deployment",
            remedy="use fewer GPUs in a replica, or a profile of your own with its network",
        )


def _check_experts(scenario: Scenario, model: Model) -> None:
    ranks = scenario.deployment.expert_parallel
    if ranks == 1:
        return
    mlps = [group.layer.mlp for group in model.groups]
    experts = [mlp.experts for mlp in mlps if isinstance(mlp, Experts)]
    if not experts:
        raise InputError(
            f"{model.name} has no experts to spread",
            where="deployment.expert_parallel",
            remedy="remove it",
        )
    if ranks > min(experts):
        raise InputError(
            f"{ranks} GPUs cannot share the {min(experts)} experts of {model.name}",
            where="deployment.expert_parallel",
            remedy=f"use {min(experts)} at most",
        )


def _check_lengths(scenario: Scenario, model: Model) -> None:
    longest = scenario.workload.least_tokens()
    if longest > model.max_context_tokens:
        raise InputError(
            f"{longest:,} tokens per request, but {model.name} takes"
            f" {model.max_context_tokens:,} in all",
            where="workload",
            remedy="shorten the prompt or the answer, or choose a model with a longer context",
        )


def _check_strategy(scenario: Scenario, model: Model) -> None:
    strategy = scenario.decoding
    block = strategy.name == "block_diffusion"
    if block and "block_diffusion" not in model.decoding and not strategy.what_if:
        raise InputError(
            f"{model.name} was not trained for block diffusion",
            where="decoding",
            remedy="set `what_if: true` to see its cost anyway, labelled assumed,"
            " or name a diffusion `model`",
        )
    if not block and "autoregressive" not in model.decoding:
        raise InputError(
            f"{model.name} is a diffusion model and cannot decode by {strategy.name}",
            where="decoding",
            remedy="use `block_diffusion`",
        )
    plan = strategy.plan(1, 2, 1)
    budget = scenario.deployment.max_batched_tokens
    if plan.peak_positions > budget:
        raise InputError(
            f"one pass of {strategy.name} needs {plan.peak_positions} positions,"
            f" more than the budget of {budget}",
            where="deployment.max_batched_tokens",
            remedy="raise it",
        )
