"""What of a scenario does not go together: one sentence each."""

from collections.abc import Iterable

from sim.cost import unshared_heads
from sim.errors import InputError
from sim.hardware import GpuProfile
from sim.model import Experts, Model
from sim.scenario.schema import Scenario
from sim.units import counted
from sim.workload import Fixed


def check(scenario: Scenario, model: Model, gpu: GpuProfile) -> None:
    """Refuse layouts, lengths and strategies that the model or the GPU does not take."""
    _check_parallelism(scenario, model, gpu)
    _check_lengths(scenario, model)
    _check_strategy(scenario, model)


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
            f"{model.name} has only {counted(model.num_layers, 'layer')} for"
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
    family = strategy.trained_for
    causal = "autoregressive" in model.decoding
    if family not in model.decoding and family != "autoregressive" and not strategy.what_if:
        raise InputError(
            f"{model.name} was not trained for {family.replace('_', ' ')}",
            where="decoding",
            remedy="set `what_if: true` to see its cost anyway, labelled assumed,"
            " or name a diffusion `model`"
            if causal
            else f"use {_names(model.decoding)}",
        )
    if family not in model.decoding and family == "autoregressive":
        raise InputError(
            f"{model.name} is a diffusion model and cannot decode by {strategy.name}",
            where="decoding",
            remedy=f"use {_names(model.decoding)}",
        )
    strategy.mean_tokens_per_pass()  # complains where acceptance is not stated for this workload
    _check_positions(scenario)


def _names(families: Iterable[str]) -> str:
    return " or ".join(f"`{family}`" for family in families)


def _check_positions(scenario: Scenario) -> None:
    """Refuse passes that cannot be split and are larger than the token budget."""
    strategy, workload = scenario.decoding, scenario.workload
    prompt, answer = (
        part.tokens if isinstance(part, Fixed) else least
        for part, least in ((workload.input_tokens, 1), (workload.output_tokens, 2))
    )
    plan = strategy.plan(prompt, answer, max(1, round(strategy.mean_passes(answer))))
    deployment = scenario.deployment
    budget = deployment.max_batched_tokens // deployment.attention_data_parallel
    if max(1, plan.peak_positions) > budget:
        raise InputError(
            f"one pass of {strategy.name} needs {max(1, plan.peak_positions)} positions,"
            f" more than the budget of {budget}"
            f"{' of each rank' if deployment.attention_data_parallel > 1 else ''}",
            where="deployment.max_batched_tokens",
            remedy="raise it",
        )
