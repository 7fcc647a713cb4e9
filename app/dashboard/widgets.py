"""Widgets whose value lives in the address, and whose default is that of a scenario."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from app.dashboard.choices import Choices
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
    on_change: Callable[[], None] | None = None,
    label_of: Callable[[T], str] = str,
) -> T:
    """Draw a list to choose from."""
    return st.selectbox(
        label,
        options,
        index=options.index(getattr(default, field)),
        format_func=label_of,
        key=key(field),
        help=about,
        on_change=on_change,
        bind="query-params",
    )


def slider(field: str, label: str, low: int, high: int, default: Choices, *, step: int = 1) -> int:
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
