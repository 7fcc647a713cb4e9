"""What the session remembers, and how the address follows it.

A widget with a key and `bind="query-params"` keeps its value in the address. A value that the
script sets itself reaches the address only from a callback, which runs before the script: so
scenarios are opened, and repairs are made, by callbacks.
"""

from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import Final

import streamlit as st

from app.dashboard.choices import Choices, choices_of
from sim.report.words import gpu_full_label
from sim.scenario import Scenario, list_scenarios, load_scenario

START: Final = "chat-70b-h100"
PREFIX: Final = "e_"
"""Of every key of Explore in the address: pages may not share keys."""
NOT_STATED: Final = "not stated"
"""What a list shows in place of an empty name."""
_KEPT: Final = "explore_choices"
_FULL: Final = "explore_full"
_LINK_READ: Final = "explore_link_read"


def key(field: str) -> str:
    """Return the key of a widget, in the session and in the address."""
    return PREFIX + field


@cache
def scenario_named(name: str) -> Scenario:
    """Return a scenario of the catalog."""
    return load_scenario(name)


def scenario_names() -> tuple[str, ...]:
    """Return the scenarios of the catalog, the one to start from first."""
    return (START, *(name for name in list_scenarios() if name != START))


def open_scenario() -> None:
    """Set every widget to the scenario that was just chosen (a callback)."""
    choices = choices_of(scenario_named(st.session_state[key("scenario")]))
    set_choices(asdict(choices))
    keep(choices)


def set_choices(values: Mapping[str, object]) -> None:
    """Set widgets, and with them the address (a callback)."""
    for field, value in values.items():
        st.session_state[key(field)] = value


def read_link() -> dict[str, str]:
    """Return what the address asked of this page when it was opened; nothing from then on.

    To be called before any widget is drawn: Streamlit drops what it cannot use, in silence.
    """
    if st.session_state.get(_LINK_READ):
        return {}
    st.session_state[_LINK_READ] = True
    asked = st.query_params.to_dict()
    return {name: value for name, value in asked.items() if name.startswith(PREFIX)}


def ignored(link: Mapping[str, str], shown: Mapping[str, object]) -> tuple[str, ...]:
    """Return the parts of a link that the page does not show: `name=value`.

    `shown` holds the values of the widgets in sight by field; others are not judged.
    """
    return tuple(
        f"{name}={text}"
        for name, text in link.items()
        if name.removeprefix(PREFIX) in shown and not _says(text, shown[name.removeprefix(PREFIX)])
    )


def restore_hidden() -> None:
    """Give widgets that come into sight the values that they had when they went (a callback)."""
    set_choices(
        {
            field: value
            for field, value in st.session_state.get(_KEPT, {}).items()
            if key(field) not in st.session_state
        }
    )


def keep(choices: Choices) -> None:
    """Remember the choices, those of hidden widgets included."""
    st.session_state[_KEPT] = asdict(choices)


def hidden(field: str, default: Choices) -> object:
    """Return the value of a widget that is out of sight."""
    return st.session_state.get(_KEPT, {}).get(field, getattr(default, field))


def want_full_run(scenario_key: str) -> None:
    """Ask for a long run of one scenario (a callback)."""
    st.session_state[_FULL] = scenario_key


def full_run_wanted(scenario_key: str) -> bool:
    """Tell whether a long run of this very scenario was asked for."""
    return bool(st.session_state.get(_FULL) == scenario_key)


def _says(text: str, value: object) -> bool:
    """Tell whether a part of a link means the value of a widget, as it is or as its label."""
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if isinstance(value, str):
        return text in {value, gpu_full_label(value), value.replace("_", " ") or NOT_STATED}
    try:
        return float(text) == value
    except ValueError:
        return False
