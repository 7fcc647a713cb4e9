"""Widgets whose value lives in the address, and whose default is that of a scenario."""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

import streamlit as st

from app.dashboard import state
from app.dashboard.choices import Choices
from app.dashboard.markdown import escape
from app.dashboard.state import key

T = TypeVar("T")
N = TypeVar("N", int, float)


def select(
    field: str,
    label: str,
    options: tuple[T, ...],
    default: Choices,
    *,
    about: str | None = None,
    on_change: Callable[..., None] | None = None,
    args: tuple[object, ...] = (),
    label_of: Callable[[T], str] = str,
) -> T:
    """Draw a list to choose from."""
    if st.session_state.get(key(field), options[0]) not in options:
        del st.session_state[key(field)]  # left from another list under the same name
    return st.selectbox(
        label,
        options,
        index=options.index(getattr(default, field)),
        format_func=label_of,
        key=key(field),
        help=about,
        on_change=on_change,
        args=args,
        bind="query-params",
    )


def slider(
    field: str,
    label: str,
    low: int,
    high: int,
    default: Choices,
    *,
    step: int = 1,
    about: str | None = None,
) -> int:
    """Draw a slider; a default beyond its ends moves them."""
    value: int = getattr(default, field)
    return st.slider(
        label,
        min(low, value),
        max(high, value),
        value,
        step,
        format="localized",
        key=key(field),
        help=about,
        bind="query-params",
    )


def number(
    field: str,
    label: str,
    ends: tuple[N, N],
    default: Choices,
    *,
    step: N,
    form: str = "%d",
    about: str | None = None,
) -> N:
    """Draw a number to type; a default beyond its ends moves them."""
    low, high = ends
    value: N = getattr(default, field)
    return st.number_input(
        label,
        min(low, value),
        max(high, value),
        value,
        step,
        format=form,
        key=key(field),
        help=about,
        bind="query-params",
    )


def text(
    field: str, label: str, default: Choices, *, example: str, about: str | None = None
) -> str:
    """Draw a line to type."""
    said = st.text_input(
        label,
        getattr(default, field),
        key=key(field),
        placeholder=example,
        help=about,
        bind="query-params",
    )
    return said or ""


def toggle(
    field: str,
    label: str,
    default: Choices,
    *,
    about: str | None = None,
    on_change: Callable[[], None] | None = None,
) -> bool:
    """Draw a switch."""
    return st.toggle(
        label,
        getattr(default, field),
        key=key(field),
        help=about,
        on_change=on_change,
        bind="query-params",
    )


def more(
    name: str, label: str, fields: Collection[str], default: Choices
) -> "st.delta_generator.DeltaGenerator | None":
    """Draw a fold for widgets that few people need; return it where they are to be drawn.

    They are, too, where the fold is closed and one of them says something else than its default:
    a widget that is not drawn is not in the address.
    """
    said = any(
        key(field) in st.query_params
        or state.hidden(field, default) != getattr(default, field)
        or st.session_state.get(key(field), getattr(default, field)) != getattr(default, field)
        for field in fields
    )
    if said and key(name) not in st.session_state:
        st.session_state[key(name)] = True  # by a link, or from a scenario: to be seen
    fold = st.expander(label, key=key(name), on_change=state.restore_hidden)
    return fold if fold.open or said else None


def warn_of_others(models: Sequence[str], served: str) -> None:
    """Say so where published figures were measured with other models than the served one."""
    if served not in models:
        said = f":material/warning: Measured with {', '.join(models)}, not with {served}."
        st.caption(escape(said))


def words(name: str) -> str:
    """Return a name of a scenario file as the lists show it."""
    return name.replace("_", " ") or state.NOT_STATED
