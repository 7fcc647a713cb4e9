"""The sidebar of Explore: widgets that live in the address, and the choices they stand for."""

from dataclasses import fields, replace
from typing import Any, Final

import streamlit as st

from app.dashboard import models, offers, state
from app.dashboard.choices import (
    AS_LISTED,
    FIXED,
    OWN_PRICE,
    SPLIT,
    Choices,
    choices_of,
    is_closed_loop,
)
from app.dashboard.state import key
from app.dashboard.strategy_controls import knobs_of_strategy
from app.dashboard.widgets import number, select, slider
from sim.report.words import gpu_full_label
from sim.scenario import Scenario
from sim.workload import Trace, list_workloads, load_workload_preset

_PAIR: Final = (6, 5)
"""Two widgets in a row: room for `checkpoint` in the left one."""
_TARGET_MS: Final = (0.0, 600_000.0)
_TARGET: Final = "For each request; 0 asks nothing."
_MODEL: Final = "Type to search the catalog: paretoken list models."
_WEIGHTS: Final = (
    "`checkpoint`: as published, part by part. What the GPU cannot multiply in is stored only."
)
_DATA_PARALLEL: Final = (
    "Groups of GPUs that each attend to their own sequences: a replica has tensor × data parallel"
    " GPUs, and no group keeps the cache of another."
)
_EXPERTS: Final = "Split: every GPU has a slice of each expert. Spread: each GPU has some experts."
_ARRIVALS: Final = (
    "Poisson: users who know nothing of each other. Bursty gaps: a coefficient of variation of 2."
    " Bursts: five times as fast for 5 s of each minute."
)


def choose() -> tuple[Choices, Scenario, tuple[str, ...]]:
    """Draw the sidebar; return the choices, the scenario they amend, ignored parts of a link."""
    link = state.read_link()
    with st.sidebar:
        name = st.selectbox(
            "Scenario",
            state.scenario_names(),
            key=key("scenario"),
            on_change=state.open_scenario,
            help="Opens a scenario of the catalog: every value below becomes its own.",
            bind="query-params",
        )
        base = state.scenario_named(name)
        default = choices_of(base)
        serve = _serve(default, base)
        values = {
            **serve,
            **_on(default, serve["model"], base),
            **_traffic(default, base),
            **_targets(default),
            **_price(default),
        }
    out_of_sight = {
        field.name: state.hidden(field.name, default)
        for field in fields(Choices)
        if field.name not in values
    }
    choices = Choices(**values, **out_of_sight)  # type: ignore[arg-type]
    state.keep(choices)
    ignored = state.ignored(link, {"scenario": name, **values})
    uploaded = models.uploads().get(choices.model)
    if uploaded is not None:  # from here on it stands in the scenario, keys and all
        base = base.model_copy(update={"model": uploaded})
        choices = replace(choices, model=AS_LISTED)
    return choices, base, ignored


def _serve(default: Choices, base: Scenario) -> dict[str, Any]:
    st.markdown("#### Serve")
    offered = offers.models(default.model, models.uploads())
    model = select("model", "Model", offered, default, about=_MODEL)
    served = models.loaded(models.reference_of(model, base))
    st.caption(models.caption(served))
    models.draw_upload()
    strategy = select(
        *("strategy", "Decoding strategy", offers.strategies(default.strategy), default),
        on_change=state.restore_hidden,
        about="How tokens come about: one a pass, drafted and verified, or denoised in blocks.",
    )
    values = {"model": model, "strategy": strategy}
    mixed = base.workload.domains is not None
    return values | knobs_of_strategy(strategy, default, served, mixed=mixed)


def _on(default: Choices, model: str, base: Scenario) -> dict[str, Any]:
    st.markdown("#### On")
    gpu = select("gpu", "GPU", offers.gpus(default.gpu), default, label_of=gpu_full_label)
    first, second = st.columns(_PAIR)
    with first:
        offered = offers.weights(default.weights)
        weights = select("weights", "Weights", offered, default, about=_WEIGHTS)
        ranks = offers.tensor_parallel(default.tensor_parallel)
        tensor_parallel = select(
            *("tensor_parallel", "Tensor parallel", ranks, default),
            about="GPUs that share each layer of one replica.",
        )
    with second:
        kv_offered = offers.kv_precisions(default.kv_precision)
        kv_precision = select("kv_precision", "KV cache", kv_offered, default)
        replicas = number("replicas", "Replicas", (1, offers.MOST_REPLICAS), default, step=1)
    return {
        "gpu": gpu,
        "weights": weights,
        "kv_precision": kv_precision,
        "tensor_parallel": tensor_parallel,
        "replicas": replicas,
        **_experts(default, model, base),
    }


def _experts(default: Choices, model: str, base: Scenario) -> dict[str, Any]:
    """Draw how experts are laid out; a dense model has none, and its GPUs share each layer."""
    if not models.has_experts(models.loaded(models.reference_of(model, base))):
        own = model == default.model
        return {
            "attention_data_parallel": default.attention_data_parallel if own else 1,
            "experts": default.experts if own else SPLIT,
        }
    first, second = st.columns(_PAIR)
    with first:
        groups = offers.attention_data_parallel(default.attention_data_parallel)
        data_parallel = select(
            *("attention_data_parallel", "Data parallel", groups, default), about=_DATA_PARALLEL
        )
    with second:
        ways = offers.experts(default.experts)
        experts = select("experts", "Experts", ways, default, about=_EXPERTS)
    return {"attention_data_parallel": data_parallel, "experts": experts}


def _traffic(default: Choices, base: Scenario) -> dict[str, Any]:
    st.markdown("#### Traffic")
    users = is_closed_loop(base)
    load = st.select_slider(
        "Users at once" if users else "Requests per second",
        offers.loads(default.load, users=users),
        value=default.load,
        format_func=lambda value: f"{value:g}",
        key=key("load"),
        bind="query-params",
    )
    arrivals = {}
    if not users and not isinstance(base.workload.arrivals, Trace):
        kinds = offers.arrivals(default.arrivals)
        arrivals = {"arrivals": select("arrivals", "Arrivals", kinds, default, about=_ARRIVALS)}
    lengths = select(
        *("lengths", "Lengths", offers.lengths(default.lengths), default),
        on_change=state.restore_hidden,
        about="Prompt and answer: statistics of real traffic, or the same for every request.",
    )
    values = {"load": load, "lengths": lengths, **arrivals}
    if lengths == FIXED:
        values["input_tokens"] = slider(
            "input_tokens", "Input tokens", 16, 16384, default, step=16
        )
        values["output_tokens"] = slider(
            "output_tokens", "Output tokens", 8, 4096, default, step=8
        )
    elif lengths in list_workloads():
        preset = load_workload_preset(lengths)
        means = f"{preset.input_tokens.mean:,.0f} input, {preset.output_tokens.mean:,.0f} output"
        st.caption(f"Mean {means} tokens")
    return values


def _targets(default: Choices) -> dict[str, Any]:
    st.markdown("#### Targets")
    values: dict[str, Any] = {}
    steps_ms = {"ttft_ms": 50.0, "tpot_ms": 5.0}
    for column, (field, step_ms) in zip(st.columns(2), steps_ms.items(), strict=True):
        label = f"{field.removesuffix('_ms').upper()} (ms)"
        with column:
            values[field] = number(
                *(field, label, _TARGET_MS, default), step=step_ms, form="%g", about=_TARGET
            )
    return values


def _price(default: Choices) -> dict[str, Any]:
    st.markdown("#### Price")
    price = select(
        *("price", "Per GPU-hour", offers.prices(default.price), default),
        on_change=state.restore_hidden,
        about="A shipped list with source and date, or your own figure.",
    )
    values: dict[str, Any] = {"price": price}
    if price == OWN_PRICE:
        values["usd_per_gpu_hour"] = number(
            "usd_per_gpu_hour", "$ per GPU-hour", (0.01, 1000.0), default, step=0.1, form="%.2f"
        )
    return values
