"""Explore: one deployment under one load, answered at every move of a slider."""

import streamlit as st

from app.dashboard import answer, charts, exports, pins, runs, tiles, trouble
from app.dashboard.choices import Choices, priced, scenario_of
from app.dashboard.controls import choose
from app.dashboard.markdown import escape
from app.dashboard.state import full_run_wanted, want_full_run
from sim.errors import DoesNotFitError, SimError
from sim.report.answer import headline
from sim.run import Outcome
from sim.scenario import Scenario


@st.fragment
def explore() -> None:
    """Draw the sidebar and the answer to it; a move of a widget draws only this again."""
    choices, base, ignored = choose()
    if ignored:
        st.warning(
            f"The link asks for {', '.join(ignored)}, which this page does not offer: it shows"
            " its own value instead.",
            icon=":material/link_off:",
        )
    try:
        scenario, no_price = priced(scenario_of(choices, base))
        wanted = full_run_wanted(runs.key_of(scenario))
        outcome = runs.full(scenario) if wanted else runs.preview(scenario)
    except DoesNotFitError as error:
        trouble.does_not_fit(error, scenario_of(choices, base), choices, base)
    except SimError as error:
        trouble.refused(error)
    else:
        show(outcome, scenario, choices, no_price=no_price, is_full=wanted)


def show(
    outcome: Outcome, scenario: Scenario, choices: Choices, *, no_price: str | None, is_full: bool
) -> None:
    """Draw the answer first, then the numbers, then why."""
    st.markdown(f"### {escape(headline(outcome))}")
    below = st.empty()
    compare = outcome.scenario.decoding.name != "autoregressive"
    waiting = ", compared with autoregressive decoding: …" if compare else "."
    below.markdown(escape(answer.line(outcome, waiting)))
    shown = tiles.tiles(outcome, no_price)
    badges(outcome, scenario, is_full=is_full, keep=(shown, choices))
    if outcome.metrics.status == "overloaded":
        trouble.overloaded(outcome, choices)
    tiles.draw(pins.with_changes(shown, pins.pinned()))
    pins.draw(shown, choices)
    notes = outcome.notes if no_price is None else (*outcome.notes, no_price)
    for note in notes:
        st.caption(f":material/info: {escape(note[:1].upper() + note[1:])}.")
    charts.draw(outcome, dark=st.context.theme.type == "dark")
    if compare:
        comparison = answer.compared(outcome, runs.autoregressive(scenario))
        below.markdown(escape(answer.line(outcome, comparison)))


def badges(
    outcome: Outcome,
    scenario: Scenario,
    *,
    is_full: bool,
    keep: tuple[tuple[tiles.Tile, ...], Choices],
) -> None:
    """Draw how long the run was and where its times come from; at the right, what to do."""
    with st.container(horizontal=True, vertical_alignment="center"):
        offered = outcome.metrics.requests.offered
        length = "full run" if is_full else "preview"
        icon = "check" if is_full else "hourglass_top"
        st.badge(f"{length}: {offered:,} requests", icon=f":material/{icon}:", color="gray")
        st.badge(
            answer.origin(outcome),
            icon=":material/tune:",
            color="gray",
            help=escape(answer.origin_help(outcome)),
        )
        st.space("stretch")
        if not is_full:
            st.button(
                f"Run {runs.FULL_REQUESTS:,} requests",
                icon=":material/play_arrow:",
                type="tertiary",
                help="More requests than the preview: narrower intervals, in a few seconds.",
                on_click=want_full_run,
                args=(runs.key_of(scenario),),
            )
        st.button(
            "Pin to compare",
            icon=":material/keep:",
            type="tertiary",
            help="Keeps this answer; whatever you change then is shown beside it.",
            on_click=pins.pin,
            args=keep,
        )
        exports.draw(outcome)


explore()
