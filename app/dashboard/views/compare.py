"""Compare: the decoding strategies of a scenario on the same requests, and one request of each."""

from typing import Final

import streamlit as st

from app.dashboard import state, tables
from app.dashboard.markdown import escape
from app.dashboard.runs import PREVIEW_REQUESTS, key_of, of_length
from sim.errors import SimError
from sim.planning.anatomy import Anatomy, anatomy
from sim.planning.comparison import Comparison, compare
from sim.planning.strategies import Entry, entries
from sim.report.anatomy import anatomy_answer, anatomy_tables
from sim.report.comparison import comparison_answer, comparison_tables
from sim.report.figures import CONFIG
from sim.report.figures.anatomy import anatomy_figure
from sim.report.table import Table
from sim.scenario import Scenario

PREFIX: Final = "c_"  # of every key of this page in the address
_KEPT: Final = 16
_NARROW: Final = 3  # columns of a table that stands beside the figure, at most
_HELP: Final = (
    "Steps: tokens that a user has seen. Bars: the passes of the request, its prefill pale. One"
    " request alone; raise *Together* to see what a batch does to it."
)


@st.cache_resource(max_entries=_KEPT, show_spinner="Comparing")
def _compared(key: str, _scenario: Scenario, _chosen: tuple[Entry, ...]) -> Comparison:  # noqa: ARG001 - the key of the cache
    return compare(_scenario, _chosen)


def page() -> None:
    """Draw the sidebar, the answer, the table, and the anatomy beside it."""
    with st.sidebar:
        names = state.scenario_names()
        first = st.session_state.get(state.key("scenario"), names[0])
        name = st.selectbox(
            "Scenario",
            names,
            index=names.index(first) if first in names else 0,
            key=f"{PREFIX}scenario",
            help="Its own strategy and those that it lists are compared.",
            bind="query-params",
        )
        scenario = state.scenario_named(name)
        offered = entries(scenario)
        st.markdown("#### Strategies")
        chosen = [
            entry.label
            for entry in offered  # a list of pills or tags would cut long names
            if st.checkbox(entry.label, value=True, key=f"{PREFIX}{name} {entry.label}")
        ]
        prompt, answer, batch = _request(scenario)
    meant = tuple(entry for entry in offered if entry.label in chosen)
    if not meant:
        st.info("Choose a strategy at the left.", icon=":material/info:")
        return
    short = of_length(scenario, PREVIEW_REQUESTS)
    found = _compared(f"{key_of(short)} {chosen}", short, meant)
    st.markdown(f"### {escape(comparison_answer(found))}")
    given, *others = comparison_tables(found)
    narrow = [table for table in others if len(table.columns) <= _NARROW]
    with st.grid(2, min_column_width=440):
        with st.container():
            tables.draw_turned(given)
            for table in narrow:
                tables.draw(table)
        with st.container():
            taken_apart = _draw_anatomy(scenario, meant, (prompt, answer, batch))
    for table in (*others, *taken_apart):
        if table not in narrow:
            tables.draw(table)


def _request(scenario: Scenario) -> tuple[int, int, int]:
    """Draw the knobs of the request that is taken apart."""
    st.markdown("#### One request")
    means = [max(1, round(mean)) for mean in scenario.workload.mean_tokens()]
    prompt = st.number_input("Input tokens", 1, 1_000_000, means[0], key=f"{PREFIX}input")
    answer = st.number_input("Output tokens", 1, 100_000, means[1], key=f"{PREFIX}output")
    batch = st.number_input(
        "Together", 1, 1024, 1, key=f"{PREFIX}batch", help="Like requests that arrive at once."
    )
    return int(prompt), int(answer), int(batch)


def _draw_anatomy(
    scenario: Scenario, meant: tuple[Entry, ...], request: tuple[int, int, int]
) -> tuple[Table, ...]:
    """Draw what a user sees of one request; return the tables that belong to it."""
    prompt, answer, batch = request
    found, refused = list[Anatomy](), list[str]()
    for entry in meant:
        try:
            one = anatomy(
                *(scenario, entry), input_tokens=prompt, output_tokens=answer, batch=batch
            )
        except SimError as error:
            refused.append(f"{entry.label}: {error}")
        else:
            found.append(one)
    if found:
        st.markdown(f"#### {escape(anatomy_answer(found))}", help=_HELP)
        dark = st.context.theme.type == "dark"
        figure = anatomy_figure(found, dark=dark)
        st.plotly_chart(figure, config=CONFIG, key=f"{PREFIX}anatomy", theme=None)
    for sentence in refused:
        st.caption(f":material/info: {escape(sentence)}")
    return anatomy_tables(found) if found else ()


page()
