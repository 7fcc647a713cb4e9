"""The charts behind tabs: only those of the open tab are drawn."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import streamlit as st

from app.dashboard import tables
from app.dashboard.markdown import escape
from app.dashboard.state import key
from app.dashboard.typical_pass import TypicalPass, typical_pass
from sim.metrics.quantities import finished, rows, tpot_s, ttft_s
from sim.metrics.timeline import timeline
from sim.report.classes import class_table
from sim.report.figures import (
    CONFIG,
    pass_finding,
    pass_waterfall_figure,
    roofline_figure,
    roofline_finding,
    waterfall_figure,
    waterfall_finding,
)
from sim.report.figures.course import course, course_figure, course_finding
from sim.report.figures.distribution import distribution_figure, distribution_finding
from sim.report.figures.template import Figure
from sim.report.tables import provenance_table
from sim.run import Outcome

TIME: Final = "Where the time goes"
ROOFLINE: Final = "Why: roofline"
COURSE: Final = "Over time"
CLASSES: Final = "Classes"
ALL: Final = "All"
ORIGINS: Final = "Origin of the numbers"

_WAIT_HELP: Final = (
    "Mean over all requests, stage by stage, from sending the request to its first token."
    " The stages outside the engine are times of the scenario, not simulated."
)
_ROUND_HELP: Final = (
    "One forward pass at the mean load of this run: passes without prompts. Every user in the"
    " batch waits for the whole pass."
)
_ROOF_HELP: Final = (
    "Each mark is an operation of one pass; its size is its share of the time. Left of the"
    " ridge memory sets the pace, right of it arithmetic. Solid: what kernels reach. Dotted:"
    " the datasheet. Grey: the same pass at one token per request."
)
_COURSE_HELP: Final = (
    "All replicas together. What lies on the pale ground is counted; before it the run warms up,"
    " behind it further requests keep the load. The KV cache is as full as the mean of the pools."
)
_SPREAD_HELP: Final = (
    "Read upwards: the share of the counted requests that is inside a time. Dashed: the target"
    " of a request, where it lies on the axis."
)


@dataclass(frozen=True, slots=True)
class Card:
    """A chart, the finding above it, and how to read it."""

    name: str
    finding: str
    help: str
    figure: Figure | None
    """None: there is nothing to draw, and the finding says why."""


def draw(outcome: Outcome, *, dark: bool) -> None:
    """Draw the tabs, and in the open one its charts."""
    classes = [CLASSES] if outcome.metrics.classes else []
    names = [TIME, ROOFLINE, COURSE, *classes, ALL, ORIGINS]
    tabs = st.tabs(names, key=key("tab"), on_change="rerun", bind="query-params")
    for name, tab in zip(names, tabs, strict=True):
        if tab.open:
            with tab:
                _draw_tab(name, outcome, dark=dark)


def _draw_tab(name: str, outcome: Outcome, *, dark: bool) -> None:
    if name == ORIGINS:
        _draw_origins(outcome)
        return
    if name == CLASSES:
        tables.draw(class_table(outcome))
        return
    cards = [] if name == COURSE else _cards_of_a_pass(name, outcome, dark=dark)
    if name in {COURSE, ALL}:
        cards.append(_course_card(outcome, dark=dark))
        if outcome.metrics.status != "overloaded":  # else latencies depend on the run's length
            cards.append(_spread_card(outcome, dark=dark))
    for place in range(0, len(cards), 2):
        row = cards[place : place + 2]
        for column, card in zip(st.columns(len(row)), row, strict=True):
            _draw_card(card, column, name)


def _cards_of_a_pass(name: str, outcome: Outcome, *, dark: bool) -> list[Card]:
    typical, cards = typical_pass(outcome), list[Card]()
    waits = bool(outcome.metrics.waterfall)  # nothing to show where the queue grows
    if waits and name in {TIME, ALL}:
        cards.append(_wait_card(outcome, dark=dark))
    if name == ROOFLINE:
        cards.append(_roof_card(outcome, typical, dark=dark))
    cards.append(_pass_card(outcome, typical, dark=dark))
    if name == ALL or (not waits and name == TIME):
        cards.append(_roof_card(outcome, typical, dark=dark))
    return cards


def _course_card(outcome: Outcome, *, dark: bool) -> Card:
    seen, window = course(timeline(outcome.simulation)), outcome.metrics.window
    counted = None if window is None else (window.start_s, window.end_s)
    figure = course_figure(seen, measured_s=counted, dark=dark)
    return Card("course", course_finding(seen), _COURSE_HELP, figure)


def _spread_card(outcome: Outcome, *, dark: bool) -> Card:
    simulation = outcome.simulation
    counted = rows(simulation.records, slice(outcome.metrics.warmup_requests, simulation.measured))
    counted = rows(counted, finished(counted))
    ttft, tpot = ttft_s(counted, outcome.scenario.pipeline), tpot_s(counted)
    limits = outcome.scenario.slo.per_request_s()
    figure = distribution_figure(
        *(ttft, tpot),
        targets_s=(limits.get("ttft"), limits.get("tpot")),
        strategy=_strategy(outcome),
        dark=dark,
    )
    return Card("spread", distribution_finding(ttft), _SPREAD_HELP, figure)


def _draw_card(card: Card, column: "st.delta_generator.DeltaGenerator", tab: str) -> None:
    with column.container(border=True, height="stretch"):
        st.markdown(f"##### {card.finding}", help=card.help)
        if card.figure is not None:
            st.plotly_chart(
                card.figure,
                theme=None,
                config=CONFIG,
                key=f"{tab} {card.name}",
                alt=f"{card.finding}. {card.help}",
            )


def _wait_card(outcome: Outcome, *, dark: bool) -> Card:
    stages = outcome.metrics.waterfall
    figure = waterfall_figure(stages, strategy=_strategy(outcome), dark=dark)
    return Card("wait", waterfall_finding(stages), _WAIT_HELP, figure)


def _pass_card(outcome: Outcome, typical: TypicalPass | None, *, dark: bool) -> Card:
    if typical is None:
        return Card("pass", "No pass without prompts in this run", _ROUND_HELP, None)
    figure = pass_waterfall_figure(
        typical.operations, draft_s=typical.draft_s, strategy=_strategy(outcome), dark=dark
    )
    finding = pass_finding(
        typical.operations,
        draft_s=typical.draft_s,
        tokens_per_pass=_tokens_per_pass(outcome),
    )
    return Card("pass", finding, _ROUND_HELP, figure)


def _tokens_per_pass(outcome: Outcome) -> float:
    """Tokens that a pass yields in an answer of the scenario's mean length."""
    _, answer = outcome.scenario.workload.mean_tokens()
    return answer / max(1.0, outcome.scenario.decoding.mean_passes(answer))


def _roof_card(outcome: Outcome, typical: TypicalPass | None, *, dark: bool) -> Card:
    if typical is None:
        return Card("roofline", "No pass without prompts in this run", _ROOF_HELP, None)
    serving, ridge = outcome.serving, outcome.ridge_tokens_per_pass
    one_a_pass = outcome.scenario.decoding.name == "autoregressive"
    figure = roofline_figure(
        serving.gpu,
        serving.fitted,
        typical.operations,
        precision=serving.cost.compute_precision,
        strategy=_strategy(outcome),
        baseline=() if one_a_pass else typical.baseline,
        ridge_tokens_per_pass=ridge,
        dark=dark,
    )
    unit = "tokens" if one_a_pass else "positions"
    finding = roofline_finding(typical.positions, ridge, unit=unit)
    return Card("roofline", finding, _ROOF_HELP, figure)


def _draw_origins(outcome: Outcome) -> None:
    with st.container(border=True):
        table = provenance_table(outcome)  # as a list: a table is wider than a phone
        origins = [f"**{part}**, {origin}: {source}" for part, origin, source in table.rows]
        _draw_points(table.title, [*origins, *([table.note] if table.note else [])])
        _draw_points("Not modelled", outcome.not_modelled)


def _draw_points(title: str, points: Iterable[str]) -> None:
    lines = "".join(f"- {point}\n" for point in points)
    st.markdown(escape(f"##### {title}\n\n{lines}"))


def _strategy(outcome: Outcome) -> str:
    decoding = outcome.scenario.decoding
    return f"speculative:{decoding.drafter}" if decoding.name == "speculative" else decoding.name
