"""The engine as the knobs of the sidebar show it: preset, scheduler, memory, router."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sim.hardware import load_engine
from sim.scenario import Scenario

AS_ENGINE: Final = "as the engine does"
YES: Final = "yes"
NO: Final = "no"
ORDERS: Final = ("fcfs", "priority", "shortest_prompt", "fair")
PREEMPTIONS: Final = ("recompute", "swap")
SCHEDULERS: Final = ("chunked_prefill", "prefill_first", "decode_first", "static_batching")
KV_RESERVES: Final = ("on_demand", "whole_answer")
ROUTERS: Final = (
    *("round_robin", "least_outstanding", "least_kv", "power_of_two", "prefix_aware"),
)
_OF_AN_ORDER: Final = ("ageing_s", "class_weights")
"""Settings of a scheduler that go with one order only."""


@dataclass(frozen=True)
class EngineKnobs:
    """The knobs of the engine; 0 and `AS_ENGINE` leave a setting to its preset."""

    engine: str = "generic"
    scheduler: str = AS_ENGINE
    order: str = "fcfs"
    preemption: str = "recompute"
    prefill_tokens: int = 0
    """Prompt tokens in one pass, at most; 0: as many as fit."""
    max_sequences: int = 256
    max_batched_tokens: int = 8192
    memory_percent: int = 0
    kv_reserve: str = AS_ENGINE
    asynchronous: str = AS_ENGINE
    stream_interval: int = 0
    prefix_cache: bool = True
    router: str = "round_robin"
    pipeline_parallel: int = 1


def values_of(scenario: Scenario) -> dict[str, Any]:
    """Return what the knobs show for a scenario."""
    deployment, options, scheduler = (
        *(scenario.deployment, scenario.engine_options, scenario.scheduler),
    )
    values: dict[str, Any] = {
        "engine": scenario.engine,
        "max_sequences": deployment.max_sequences,
        "max_batched_tokens": deployment.max_batched_tokens,
        "memory_percent": round(100 * (deployment.memory_fraction or 0)),
        "kv_reserve": options.kv_reserve or AS_ENGINE,
        "asynchronous": _word(options.asynchronous),
        "stream_interval": options.stream_interval_tokens or 0,
        "prefix_cache": deployment.prefix_cache,
        "router": deployment.router.kind,
        "pipeline_parallel": deployment.pipeline_parallel,
    }
    if scheduler is not None:
        values |= {
            "scheduler": scheduler.kind,
            "order": scheduler.order,
            "preemption": scheduler.preemption,
            "prefill_tokens": scheduler.max_prefill_tokens_per_pass or 0,
        }
    return values


def write(content: dict[str, Any], knobs: EngineKnobs, before: EngineKnobs) -> None:
    """Write what differs from the scenario into its keys; all else stays as it is."""
    content["engine"] = knobs.engine
    deployment = content["deployment"]
    for name in ("max_sequences", "max_batched_tokens", "prefix_cache", "pipeline_parallel"):
        deployment[name] = getattr(knobs, name)
    if knobs.memory_percent != before.memory_percent:
        deployment["memory_fraction"] = knobs.memory_percent / 100 or None
    if knobs.router != before.router:
        deployment["router"] = knobs.router
    content["scheduler"] = _scheduler(content, knobs, before)
    content["engine_options"] = _options(content.get("engine_options") or {}, knobs, before)


def _options(given: Mapping[str, Any], knobs: EngineKnobs, before: EngineKnobs) -> dict[str, Any]:
    wanted = {
        "kv_reserve": (knobs.kv_reserve, before.kv_reserve),
        "asynchronous": (knobs.asynchronous, before.asynchronous),
        "stream_interval_tokens": (knobs.stream_interval, before.stream_interval),
    }
    options = dict(given)
    for name, (now, then) in wanted.items():
        if now != then:
            options[name] = {YES: True, NO: False, AS_ENGINE: None, 0: None}.get(now, now)
    return options


def _scheduler(
    content: Mapping[str, Any], knobs: EngineKnobs, before: EngineKnobs
) -> dict[str, Any] | None:
    names = ("scheduler", "order", "preemption", "prefill_tokens")
    given: dict[str, Any] | None = content.get("scheduler")
    if all(getattr(knobs, name) == getattr(before, name) for name in names):
        return given
    plain = EngineKnobs()
    if all(getattr(knobs, name) == getattr(plain, name) for name in names):
        return None
    own = knobs.scheduler == AS_ENGINE
    keys = dict(given or {})
    if knobs.order != before.order:
        keys = {name: value for name, value in keys.items() if name not in _OF_AN_ORDER}
    return keys | {
        "kind": load_engine(knobs.engine).scheduler if own else knobs.scheduler,
        "order": knobs.order,
        "preemption": knobs.preemption,
        "max_prefill_tokens_per_pass": knobs.prefill_tokens or None,
    }


def _word(switch: bool | None) -> str:
    return AS_ENGINE if switch is None else YES if switch else NO
