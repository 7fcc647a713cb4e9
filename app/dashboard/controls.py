"""The sidebar of Explore: widgets that live in the address, and the choices they stand for."""

from dataclasses import fields
from typing import Any, Final, TypeVar

import streamlit as st

from app.dashboard import offers, state, strategies
from app.dashboard.choices import FIXED, OWN_PRICE, Choices, choices_of, is_closed_loop
from app.dashboard.state import key
from sim.scenario import Scenario
from sim.workload import list_workloads, load_workload_preset

T = TypeVar("T")

_ACCEPTED: Final = "Share of first drafted tokens that the served model accepts. Measure yours."
_FALL: Final = "Every further position of the chain is accepted less often, by so many points."
_DRAFTER: Final = "Work of one pass of the drafter, in percent of a pass of the served model."


def choose() -> tuple[Choices, Scenario, tuple[str, ...]]:
    """Draw the sidebar; return the choices, the scenario that they amend, and ignored parts of a link."""
    link = state.read_link()
    with st.sidebar:
        names = state.scenario_names()
        name = st.selectbox(
            *("Scenario", names),
            key=key("scenario"), bind="query-params", on_change=state.open_scenario,
            help="Opens a scenario of the catalog: every value below becomes its own.",
        )  # fmt: skip
        base = state.scenario_named(name)
        default = choices_of(base)
        values = {
            **_serve(default),
            **_on(default),
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
    return choices, base, state.ignored(link, {"scenario": name, **values})


def _serve(default: Choices) -> dict[str, Any]:
    st.markdown("#### Serve")
    model = _select("model", "Model", offers.models(default.model), default)
    strategy = _select(
        *("strategy", "Decoding strategy", offers.strategies(default.strategy), default),
        on_change=state.restore_hidden,
        help="How output tokens come about: one a pass, drafted and verified, or denoised in blocks.",
    )  # fmt: skip
    values = {"model": model, "strategy": strategy}
    if strategy == strategies.SPECULATIVE:
        return values | _speculative(default)
    if strategy == strategies.BLOCK_DIFFUSION:
        return values | _block_diffusion(default)
    return values


def _speculative(default: Choices) -> dict[str, Any]:
    tokens = _slider("draft_tokens", "Draft tokens per pass", 1, 8, default)
    first, second = st.columns(2)
    with first:
        accepted = _number("accepted_percent", "Accepted (%)", 1, 100, default, help=_ACCEPTED)
    with second:
        fall = _number("fall_points", "Fall (points)", 0, 50, default, help=_FALL)
    drafter = _number("drafter_percent", "Drafter work (%)", 1, 100, default, help=_DRAFTER)
    values = {
        "draft_tokens": tokens,
        "accepted_percent": accepted,
        "fall_points": fall,
        "drafter_percent": drafter,
    }
    percents = strategies.Knobs(**values).acceptance_percent
    st.caption(f"Acceptance by position: {' · '.join(map(str, percents))}%")
    return values


def _block_diffusion(default: Choices) -> dict[str, Any]:
    return {
        "block_tokens": _slider("block_tokens", "Tokens per block", 4, 128, default, step=4),
        "denoise_passes": _slider("denoise_passes", "Denoise passes per block", 1, 64, default),
    }


def _on(default: Choices) -> dict[str, Any]:
    st.markdown("#### On")
    gpu = _select("gpu", "GPU", offers.gpus(default.gpu), default, format_func=offers.gpu_label)
    first, second = st.columns(2)
    with first:
        weights = _select("weights", "Weights", offers.PRECISIONS, default)
        ranks = offers.tensor_parallel(default.tensor_parallel)
        tensor_parallel = _select(
            *("tensor_parallel", "Tensor parallel", ranks, default),
            help="GPUs that share each layer of one replica.",
        )
    with second:
        kv_precision = _select("kv_precision", "KV cache", offers.PRECISIONS, default)
        replicas = _number("replicas", "Replicas", 1, offers.MOST_REPLICAS, default)
    return {
        "gpu": gpu,
        "weights": weights,
        "kv_precision": kv_precision,
        "tensor_parallel": tensor_parallel,
        "replicas": replicas,
    }


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
    lengths = _select(
        *("lengths", "Lengths", offers.lengths(default.lengths), default),
        on_change=state.restore_hidden,
        help="Prompt and answer: statistics of real traffic, or the same for every request.",
    )
    values = {"load": load, "lengths": lengths}
    if lengths == FIXED:
        values["input_tokens"] = _slider(
            "input_tokens", "Input tokens", 16, 16384, default, step=16
        )
        values["output_tokens"] = _slider(
            "output_tokens", "Output tokens", 8, 4096, default, step=8
        )
    elif lengths in list_workloads():
        preset = load_workload_preset(lengths)
        means = f"{preset.input_tokens.mean:,.0f} input, {preset.output_tokens.mean:,.0f} output"
        st.caption(f"Mean {means} tokens")
    return values


def _targets(default: Choices) -> dict[str, Any]:
    st.markdown("#### Targets")
    help_ = "For each request; 0 asks nothing."
    first, second = st.columns(2)
    with first:
        ttft_ms = _number("ttft_ms", "TTFT (ms)", 0.0, 600_000.0, default, step=50.0, format="%g", help=help_)
    with second:
        tpot_ms = _number("tpot_ms", "TPOT (ms)", 0.0, 60_000.0, default, step=5.0, format="%g", help=help_)
    return {"ttft_ms": ttft_ms, "tpot_ms": tpot_ms}


def _price(default: Choices) -> dict[str, Any]:
    st.markdown("#### Price")
    price = _select(
        *("price", "Per GPU-hour", offers.prices(default.price), default),
        on_change=state.restore_hidden,
        help="A shipped list with source and date, or your own figure.",
    )
    values: dict[str, Any] = {"price": price}
    if price == OWN_PRICE:
        values["usd_per_gpu_hour"] = _number(
            "usd_per_gpu_hour", "$ per GPU-hour", 0.01, 1000.0, default, step=0.1
        )
    return values


def _select(
    field: str, label: str, options: tuple[Any, ...], default: Choices, **more: Any
) -> Any:
    index = options.index(getattr(default, field))
    return st.selectbox(label, options, index, key=key(field), bind="query-params", **more)


def _slider(field: str, label: str, low: int, high: int, default: Choices, **more: Any) -> int:
    value: int = st.slider(
        label, low, high, getattr(default, field), key=key(field), bind="query-params", **more
    )
    return value


def _number(field: str, label: str, low: float, high: float, default: Choices, **more: Any) -> Any:
    return st.number_input(
        label, low, high, getattr(default, field), key=key(field), bind="query-params", **more
    )
