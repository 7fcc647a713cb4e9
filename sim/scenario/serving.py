"""From names to facts: the model, GPU, engine and cost model of a scenario, cross-checked."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from sim.cost import ForwardPass, MemoryPlan, plan_memory
from sim.deployment import Deployment
from sim.economics.price_list import Quote
from sim.engine import Limits
from sim.errors import InputError
from sim.hardware import (
    EngineProfile,
    FittedProfile,
    GpuProfile,
    load_engine,
    load_gpu,
)
from sim.model import Model, load_model
from sim.scenario.checks import check
from sim.scenario.drafting import Drafter, drafter_of
from sim.scenario.habits import habits_of, kernels_of, scheduler_of
from sim.scenario.schema import Scenario

LOGIT_BYTES: Final = 4.0
"""Engines sample from logits in fp32."""


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
    drafter: Drafter | None = None
    """The drafter, where it has layers of its own."""
    draft_cost: ForwardPass | None = None
    """What its passes cost."""


def resolve(scenario: Scenario) -> Serving:
    """Return the facts behind a scenario; raise one sentence where they do not go together."""
    model, gpu = load_model(scenario.model), load_gpu(scenario.hardware)
    engine = load_engine(scenario.engine).with_options(scenario.engine_options)
    fitted = kernels_of(gpu, engine, scenario.fitted)
    deployment, strategy = scenario.deployment, scenario.decoding
    check(scenario, model, gpu)
    draft, drafter = strategy.draft_work, drafter_of(scenario, model, gpu)
    memory = plan_memory(
        *(model, gpu, _with_logits(engine, scenario, model), deployment),
        draft_share=(draft.share or 0.0) if draft else 0.0,
        drafter=None if drafter is None else drafter.memory,
    )
    limits = Limits(
        replicas=deployment.replicas,
        max_sequences=deployment.max_sequences,
        max_batched_tokens=deployment.max_batched_tokens,
        kv=memory.kv,
        max_context_tokens=model.max_context_tokens,
        router=deployment.router,
        ranks=deployment.attention_data_parallel,
        microbatches=deployment.pipeline_parallel,
        prefix_cache=deployment.prefix_cache
        and strategy.prefix_reusable
        and memory.kv.full > 0
        and not memory.kv.sequence_blocks,
        scheduler=scheduler_of(scenario, engine),
        habits=habits_of(engine),
        swap_s_per_block=_swap_s(scenario, gpu, memory),
    )
    quote = None
    if scenario.prices is not None:
        quote = scenario.prices.resolve(gpu.name, deployment.gpus_per_replica)
    cost, draft_cost = _costs(model, gpu, fitted, engine, deployment, drafter)
    return Serving(*(model, gpu, fitted, engine, cost, memory, limits, quote), drafter, draft_cost)


def _costs(  # noqa: PLR0917  # all that a cost is made of
    model: Model,
    gpu: GpuProfile,
    fitted: FittedProfile,
    engine: EngineProfile,
    deployment: Deployment,
    drafter: Drafter | None,
) -> tuple[ForwardPass, ForwardPass | None]:
    """Return what passes of the served model and of the drafter cost, over the same batch."""
    facts = _Fits(fitted.model_dump_json(), fitted)
    cost = _forward_pass(model, gpu, facts, engine, deployment)
    if drafter is None:
        return cost, None
    host = engine.model_copy(
        update={"host_s_per_pass": drafter.host_s_per_pass, "host_s_per_sequence": 0.0}
    )
    own = (drafter.model, gpu, facts, host, drafter.deployment)
    draft_cost = _forward_pass(*own)
    if draft_cost.reaches != cost.reaches:  # the batch keeps the sums that both of them need
        cost = _forward_pass(model, gpu, facts, engine, deployment, draft_cost.reaches)
        draft_cost = _forward_pass(*own, cost.reaches)
    return cost, draft_cost


def _with_logits(engine: EngineProfile, scenario: Scenario, model: Model) -> EngineProfile:
    """Return the engine with room for the logits of whole blocks, in fp32 on each GPU.

    Those of one position a sequence are in the engine's own reserve. A pass makes no more than
    its token budget; guesses that are kept are kept for every sequence.
    """
    deployment, strategy = scenario.deployment, scenario.decoding
    if strategy.trained_for == "autoregressive":  # and a trace need not be read for its mean
        return engine
    _, answer = scenario.workload.mean_tokens()
    sequences = -(-deployment.max_sequences // deployment.attention_data_parallel)
    each, kept = strategy.logits_held(answer), sequences * strategy.guesses_kept(answer)
    if each <= 1:
        return engine
    positions = min(sequences * each, deployment.max_batched_tokens) + kept
    logit_bytes = LOGIT_BYTES * positions * model.vocab_size / deployment.tensor_parallel
    more = engine.memory_reserve_bytes + logit_bytes
    return engine.model_copy(update={"memory_reserve_bytes": more})


def _swap_s(scenario: Scenario, gpu: GpuProfile, memory: MemoryPlan) -> float:
    """Return the time to move a KV block to the host or back: the GPUs move it side by side."""
    if scenario.scheduler is None or scenario.scheduler.preemption != "swap":
        return 0.0
    link = gpu.host_link_one_way_bytes_per_s
    if link is None:
        raise InputError(
            f"KV cannot be swapped: the profile of {gpu.name} names no link to the host",
            where="scheduler.preemption",
            remedy="use `recompute`, or a profile of your own with `host_link_one_way_gb_per_s`",
        )
    return memory.block_bytes / link.value


@dataclass(frozen=True, slots=True)
class _Fits:
    """A fitted profile that can be a key: it holds dicts, so its text stands for it."""

    text: str
    profile: FittedProfile = field(compare=False)


@lru_cache(maxsize=16)
def _forward_pass(  # noqa: PLR0917  # the key of the cache
    model: Model,
    gpu: GpuProfile,
    fits: _Fits,
    engine: EngineProfile,
    deployment: Deployment,
    reaches: tuple[int, ...] = (),
) -> ForwardPass:
    """Return the same pricing for the same facts: what it remembers serves the next run too.

    Runs that differ in load or strategy only, as in a sweep or under a slider, share it.
    """
    return ForwardPass(model, gpu, fits.profile, engine, deployment, reaches=reaches)
