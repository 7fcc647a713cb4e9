"""The sidebar of Explore: widgets that live in the address, and the choices they stand for."""

from dataclasses import fields, replace
from typing import Any, Final

import streamlit as st

from app.dashboard import engine_controls, models, offers, state, traffic_controls
from app.dashboard.choices import (
    AS_LISTED,
    OWN_PRICE,
    SPLIT,
    Choices,
    choices_of,
)
from app.dashboard.state import key
from app.dashboard.strategy_controls import knobs_of_strategy
from app.dashboard.widgets import more, number, select
from sim.report.words import gpu_full_label
from sim.scenario import Scenario

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
_ATTAINMENT: Final = "Share of all requests that must meet every target."
_GAP: Final = "Longest pause between two pieces of an answer; 0 asks nothing."
_ANSWER: Final = "Until the last token of an answer, for each request; 0 asks nothing."
_FOLDED_TARGETS: Final = ("ttlt_ms", "max_gap_ms", "attainment_percent")


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
            **engine_controls.draw(default),
            **traffic_controls.draw(default, base),
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
    fold = more("more_targets", "Whole answer, gaps, share", _FOLDED_TARGETS, default)
    if fold is None:
        return values
    with fold:
        first, second = st.columns(2)
        with first:
            values["ttlt_ms"] = number(
                *("ttlt_ms", "TTLT (ms)", _TARGET_MS, default),
                step=500.0, form="%g", about=_ANSWER,
            )  # fmt: skip
        with second:
            values["max_gap_ms"] = number(
                *("max_gap_ms", "Gap (ms)", _TARGET_MS, default), step=10.0, form="%g", about=_GAP
            )
        values["attainment_percent"] = number(
            *("attainment_percent", "Requests on target (%)", (0.0, 100.0), default),
            step=1.0, form="%g", about=_ATTAINMENT,
        )  # fmt: skip
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
