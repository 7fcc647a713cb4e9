"""The knobs of the engine in the sidebar: the preset in sight, its main overrides in a fold."""

from typing import Any, Final

import streamlit as st

from app.dashboard import engines, offers
from app.dashboard.choices import Choices
from app.dashboard.widgets import more, number, select, toggle, words

_ENGINE: Final = (
    "Habits of a serving engine: scheduler, memory, graphs, host time. The fold overrides some;"
    " `paretoken schema` lists them all."
)
_SCHEDULER: Final = (
    "What goes into a pass: prompts cut in chunks beside decoding, prompts first, decoding first,"
    " or batches that are served to the end."
)
_ORDER: Final = (
    "Who is admitted first: who came first (fcfs), the most urgent class, the shortest prompt, or"
    " the class that has had least."
)
_PREEMPTION: Final = "What becomes of the KV of a request that has to give way."
_PREFILL: Final = "Prompt tokens in one pass, at most; 0: as many as the token budget holds."
_SEQUENCES: Final = "Requests that run at once on one replica."
_BUDGET: Final = "Token budget: query positions that one pass may hold."
_MEMORY: Final = "Share of GPU memory that the engine may use; 0: as its preset says."
_RESERVE: Final = "KV blocks are taken as tokens come, or for the whole answer at admission."
_ASYNC: Final = "The host prepares the next pass while the GPU computes."
_STREAM: Final = "An answer is handed out every so many tokens; 0: as the engine does."
_PREFIX: Final = "Keep the KV of prompts for requests that begin alike; the traffic says which do."
_ROUTER: Final = "Which replica gets a request."
_STAGES: Final = "Stages that hold consecutive layers, each on GPUs of its own."
_FOLDED: Final = (
    *("scheduler", "order", "preemption", "prefill_tokens", "max_sequences"),
    *("max_batched_tokens", "memory_percent", "kv_reserve", "asynchronous", "stream_interval"),
    *("prefix_cache", "router", "pipeline_parallel"),
)


def draw(default: Choices) -> dict[str, Any]:
    """Draw the engine and its knobs; return their values."""
    offered = offers.engines(default.engine)
    values: dict[str, Any] = {
        "engine": select("engine", "Engine", offered, default, about=_ENGINE)
    }
    fold = more("more_engine", "Scheduler, memory, router", _FOLDED, default)
    if fold is None:
        return values
    with fold:
        return values | _scheduler(default) | _memory(default) | _layout(default)


def _scheduler(default: Choices) -> dict[str, Any]:
    kinds = (engines.AS_ENGINE, *engines.SCHEDULERS)
    scheduler = select(
        *("scheduler", "Scheduler", kinds, default), about=_SCHEDULER, label_of=words
    )
    order = select(*("order", "Order", engines.ORDERS, default), about=_ORDER, label_of=words)
    preemption = select(
        *("preemption", "Preemption", engines.PREEMPTIONS, default), about=_PREEMPTION
    )
    first, second = st.columns(2)
    with first:
        sequences = number(
            *("max_sequences", "Sequences", (1, 65_536), default), step=16, about=_SEQUENCES
        )
    with second:
        budget = number(
            *("max_batched_tokens", "Budget", (1, 1 << 20), default), step=512, about=_BUDGET
        )
    prefill = number(
        *("prefill_tokens", "Prompt tokens per pass", (0, 1 << 20), default),
        step=512, about=_PREFILL,
    )  # fmt: skip
    return {
        "scheduler": scheduler,
        "order": order,
        "preemption": preemption,
        "prefill_tokens": prefill,
        "max_sequences": sequences,
        "max_batched_tokens": budget,
    }


def _memory(default: Choices) -> dict[str, Any]:
    reserves = (engines.AS_ENGINE, *engines.KV_RESERVES)
    switches = (engines.AS_ENGINE, engines.YES, engines.NO)
    values: dict[str, Any] = {
        "kv_reserve": select(
            *("kv_reserve", "KV blocks", reserves, default), about=_RESERVE, label_of=words
        ),
        "asynchronous": select(
            *("asynchronous", "Host beside the GPU", switches, default), about=_ASYNC
        ),
    }
    first, second = st.columns(2)
    with first:
        values["memory_percent"] = number(
            *("memory_percent", "Memory (%)", (0, 100), default), step=1, about=_MEMORY
        )
    with second:
        values["stream_interval"] = number(
            *("stream_interval", "Stream", (0, 4096), default), step=1, about=_STREAM
        )
    values["prefix_cache"] = toggle("prefix_cache", "Prefix cache", default, about=_PREFIX)
    return values


def _layout(default: Choices) -> dict[str, Any]:
    router = select(*("router", "Router", engines.ROUTERS, default), about=_ROUTER, label_of=words)
    stages = number(
        "pipeline_parallel", "Pipeline stages", (1, 64), default, step=1, about=_STAGES
    )
    return {"router": router, "pipeline_parallel": stages}
