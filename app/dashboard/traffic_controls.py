"""The knobs of the traffic in the sidebar: load, arrivals, lengths."""

from typing import Any, Final

import streamlit as st

from app.dashboard import arrivals, offers, state
from app.dashboard.choices import FIXED, Choices, is_closed_loop
from app.dashboard.state import key
from app.dashboard.widgets import number, select, slider
from sim.scenario import Scenario
from sim.workload import Trace, list_workloads, load_workload_preset

_ARRIVALS: Final = (
    "Poisson: users who know nothing of each other. Bursty gaps: gamma gaps of a coefficient of"
    " variation. Bursts: a while that is some times as fast. Over the day: busy hours and quiet"
    " ones; a short run sees the hour at which it begins."
)


def draw(default: Choices, base: Scenario) -> dict[str, Any]:
    """Draw the knobs and return their values."""
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
    values: dict[str, Any] = {"load": load}
    if not users and not isinstance(base.workload.arrivals, Trace):
        values |= _arrivals(default)
    return values | _lengths(default)


def _arrivals(default: Choices) -> dict[str, Any]:
    kinds = offers.arrivals(default.arrivals)
    kind = select(
        *("arrivals", "Arrivals", kinds, default),
        about=_ARRIVALS,
        on_change=state.restore_hidden,
    )
    values: dict[str, Any] = {"arrivals": kind}
    if kind == arrivals.GAMMA:
        values["gap_cv"] = number(
            *("gap_cv", "Variation of the gaps", (0.05, 20.0), default), step=0.5, form="%g",
            about="Standard deviation over mean: 1 is Poisson, above it is burstier.",
        )  # fmt: skip
    elif kind == arrivals.BURSTS:
        values["burst_factor"] = number(
            *("burst_factor", "Times as fast", (1.1, 1e6), default), step=1.0, form="%g"
        )
        first, second = st.columns(2)
        with first:
            values["burst_every_s"] = number(
                *("burst_every_s", "Every (s)", (0.1, 1e9), default), step=10.0, form="%g"
            )
        with second:
            values["burst_lasting_s"] = number(
                *("burst_lasting_s", "Lasting (s)", (0.1, 1e9), default), step=1.0, form="%g"
            )
    elif kind == arrivals.DAY:
        values["start_hour"] = slider("start_hour", "Run begins at (hour)", 0, 23, default)
        first, second = st.columns(2)
        with first:
            values["swing_percent"] = number(
                *("swing_percent", "Swing (%)", (0, 100), default), step=5,
                about="How far the rate rises over its mean, and falls below it 12 h later.",
            )  # fmt: skip
        with second:
            values["peak_hour"] = number(
                *("peak_hour", "Peak (hour)", (0.0, 24.0), default), step=1.0, form="%g"
            )
    return values


def _lengths(default: Choices) -> dict[str, Any]:
    lengths = select(
        *("lengths", "Lengths", offers.lengths(default.lengths), default),
        on_change=state.restore_hidden,
        about="Prompt and answer: statistics of real traffic, or the same for every request.",
    )
    values: dict[str, Any] = {"lengths": lengths}
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
